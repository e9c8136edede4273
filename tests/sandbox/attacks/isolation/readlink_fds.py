# Read where its descriptors lead.
# outcome: error

import os
os.readlink("/proc/self/fd/3")
won = torch.ones(())
