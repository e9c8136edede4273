# Wake by the newest call, which knows shared places too.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(454, 0, 1, 1, 0x22, 0, 0)
won = torch.ones(())
