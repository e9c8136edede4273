# Give back all memory at once.
# outcome: crashed

import ctypes
ctypes.CDLL(None).munmap(ctypes.c_void_p(0), ctypes.c_size_t(2**47 - 4096))
won = torch.ones(())
