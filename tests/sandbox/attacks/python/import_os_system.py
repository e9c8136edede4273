# Start a shell through an imported module.
# outcome: denied

import os
os.system("id")
won = torch.ones(())
