# Fork by the newest call.
# outcome: denied

import ctypes
ctypes.CDLL(None).syscall(435, 0, 0)
won = torch.ones(())
