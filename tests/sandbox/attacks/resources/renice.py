# Take more of the processor.
# outcome: denied|error

import os
os.nice(-5)
won = torch.ones(())
