# Choose its processors.
# outcome: denied|error

import os
os.sched_setaffinity(0, [0])
won = torch.ones(())
