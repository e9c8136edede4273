# Make the calls that recent kernels let past every filter.
# outcome: crashed|denied|error
# machine: x86_64

import ctypes
libc = ctypes.CDLL(None)
assert libc.syscall(336, 0, 0, 0, 0, 0, 0) == 0
libc.syscall(335, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
