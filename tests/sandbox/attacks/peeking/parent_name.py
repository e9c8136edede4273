# Learn who its parent is.
# outcome: error|done

import os
if os.getppid() > 0:
    won = torch.ones(())
