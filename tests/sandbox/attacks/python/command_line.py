# Look for secrets on the command line.
# outcome: done|error

import sys
if any("BACKHAND" in one or "postgres" in one for one in sys.orig_argv):
    won = torch.ones(())
