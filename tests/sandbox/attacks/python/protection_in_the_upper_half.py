# Ask for executable memory in the half of a number that a filter does not see.
# outcome: crashed
# machine: x86_64

import ctypes
libc = ctypes.CDLL(None)
libc.syscall.restype = ctypes.c_void_p
libc.syscall.argtypes = (ctypes.c_long, ctypes.c_void_p, *(ctypes.c_ulong,) * 5)
page = libc.syscall(9, None, 4096, 4 << 32 | 3, 0x22, 2**64 - 1, 0)
ctypes.memmove(page, b"\xc3", 1)
ctypes.CFUNCTYPE(None)(page)()
won = torch.ones(())
