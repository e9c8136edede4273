# Load a library that is loaded already, a second time.
# outcome: error|denied|crashed

import ctypes
libc = ctypes.CDLL(None)
libc.dlmopen.restype = ctypes.c_void_p
assert libc.dlmopen(-1, b'libm.so.6', 2)
won = torch.ones(())
