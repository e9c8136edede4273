# Change the directory.
# outcome: denied|error

import os
os.chdir("/tmp")
won = torch.ones(())
