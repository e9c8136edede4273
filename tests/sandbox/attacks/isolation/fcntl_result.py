# Change the result pipe.
# outcome: error

import fcntl
fcntl.fcntl(3, fcntl.F_SETPIPE_SZ, 2**20)
won = torch.ones(())
