# Make a call that this kernel may or may not have.
# outcome: denied

import ctypes
ctypes.CDLL(None).syscall(600)
won = torch.ones(())
