# Make a call by the 32-bit door.
# outcome: denied|crashed
# machine: x86_64

import ctypes
libc = ctypes.CDLL(None)
libc.syscall(0x40000000 | 520, 0, 0, 0)
won = torch.ones(())
