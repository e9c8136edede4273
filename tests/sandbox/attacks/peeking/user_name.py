# Learn who it is.
# outcome: error|done

import getpass, os
name = os.environ.get("USER") or getpass.getuser()
won = torch.ones(())
