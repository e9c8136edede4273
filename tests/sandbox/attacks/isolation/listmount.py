# List the mounts by the newest call.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(458, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
