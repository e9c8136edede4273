# Save a tensor into the result pipe.
# outcome: error|crashed|done|denied

import os
torch.save(x, os.fdopen(3, "wb", closefd=False))
