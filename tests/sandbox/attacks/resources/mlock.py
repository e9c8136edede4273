# Lock memory.
# outcome: denied

import ctypes
ctypes.CDLL(None).mlockall(3)
won = torch.ones(())
