# Give back the memory on which the interpreter stands.
# outcome: crashed

import ctypes
libc = ctypes.CDLL(None)
libc.sbrk.restype = ctypes.c_void_p
libc.brk(ctypes.c_void_p(libc.sbrk(0) - 2**25))
import gc
gc.collect()
y = [bytes(n) for n in range(10**4)]
