# Ask about a file.
# outcome: error

import os
os.stat("/etc/passwd")
won = torch.ones(())
