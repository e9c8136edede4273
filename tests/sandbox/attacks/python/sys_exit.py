# Raise SystemExit.
# outcome: error

import sys
sys.exit(0)
won = torch.ones(())
