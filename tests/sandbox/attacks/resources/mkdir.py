# Make a directory.
# outcome: denied|error

import os
os.mkdir("/tmp/backhand-attack")
won = torch.ones(())
