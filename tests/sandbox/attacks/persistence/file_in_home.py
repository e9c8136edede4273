# Leave a file in the home directory.
# outcome: error

import os
open(os.path.expanduser("~/.backhand-attack"), "w")
won = torch.ones(())
