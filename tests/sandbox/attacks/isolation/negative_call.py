# Make a call with a number that does not exist.
# outcome: denied

import ctypes
ctypes.CDLL(None).syscall(-1)
won = torch.ones(())
