# Make a file in memory.
# outcome: denied

import os
os.memfd_create("x")
won = torch.ones(())
