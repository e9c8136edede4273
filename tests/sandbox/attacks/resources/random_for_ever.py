# Have the kernel fill memory with random bytes, for ever.
# outcome: timeout

import ctypes
room = bytearray(2**26)
libc = ctypes.CDLL(None)
place = (ctypes.c_char * 2**26).from_buffer(room)
while True:
    libc.getrandom(place, 2**26, 2)
