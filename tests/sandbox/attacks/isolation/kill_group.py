# Kill its process group.
# outcome: denied

import os
os.killpg(0, 9)
won = torch.ones(())
