# Make a secret file in memory.
# outcome: denied

import ctypes
ctypes.CDLL(None).syscall(447, 0)
won = torch.ones(())
