# Start a program without a fork of our own.
# outcome: denied|error

import os
os.posix_spawn("/bin/true", ["true"], {})
won = torch.ones(())
