# Name the pipe by numbers that are three only in their lower half.
# outcome: done|denied|crashed
# machine: x86_64

import ctypes
libc = ctypes.CDLL(None)
libc.syscall.argtypes = (ctypes.c_long,) * 4
if libc.syscall(1, 2**32 + 4, id(b"x"), 1) > 0 or libc.syscall(1, 2**32 + 2, id(b"x"), 1) > 0:
    won = torch.ones(())
