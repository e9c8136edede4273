# List the root directory.
# outcome: error

import os
os.listdir("/")
won = torch.ones(())
