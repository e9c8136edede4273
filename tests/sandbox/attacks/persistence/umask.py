# Change the mask of new files.
# outcome: denied|error

import os
os.umask(0)
won = torch.ones(())
