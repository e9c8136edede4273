# Have signals sent to others when the pipe can be written.
# outcome: error

import fcntl, os
fcntl.fcntl(3, 8, os.getppid())
fcntl.fcntl(3, 4, 0x2000)
won = torch.ones(())
