# Write to every page that it shares with the zygote.
# outcome: done|crashed|error

import ctypes, gc
libc = ctypes.CDLL(None)
libc.sbrk.restype = ctypes.c_void_p
libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
end = libc.sbrk(0) & ~4095
for place in range(end - 4096, 0, -4096):
    if libc.madvise(place, 4096, 0):
        break
    ctypes.memmove(place, ctypes.string_at(place, 1), 1)
