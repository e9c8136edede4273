# Make a device.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(133, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
