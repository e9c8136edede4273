# Start a ring of requests.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(425, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
