# Write its whole memory into the pipe, whatever it may hold.
# outcome: flood|crashed

import ctypes
libc = ctypes.CDLL(None, use_errno=True)

place = id(x) & ~4095
for number in range(2000):
    libc.write(3, ctypes.c_void_p(place + number * 4096), ctypes.c_size_t(4096))
