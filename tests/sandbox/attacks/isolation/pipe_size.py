# Make the pipe a megabyte wide.
# outcome: error

import fcntl
fcntl.fcntl(3, 1031, 2**20)
won = torch.ones(())
