# Have the kernel send memory that is not there, and more than there is.
# outcome: done|crashed

import ctypes
libc = ctypes.CDLL(None)
for place, size in ((0, 9), (2**47 - 4096, 2**20), (2**64 - 1, 9), (id(torch), 2**63 - 1), (0, 0), (2**63, 2**64 - 1)):
    libc.write(3, ctypes.c_void_p(place), ctypes.c_size_t(size)) if size < 2**40 or place > 2**60 else None
y = torch.ones(2)
