# Push pages of the zygote out, to learn which ones it touches.
# outcome: error

import ctypes
libc = ctypes.CDLL(None, use_errno=True)

place = ctypes.addressof(ctypes.c_int.in_dll(ctypes.pythonapi, "Py_OptimizeFlag")) & ~4095
assert libc.madvise(ctypes.c_void_p(place), 4096, 21) == 0
won = torch.ones(())
