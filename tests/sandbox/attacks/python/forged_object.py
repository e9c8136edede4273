# Make an object out of bytes, with a type of its own making.
# outcome: crashed|error|done

import ctypes
fake = (ctypes.c_size_t * 64)(*[1] * 64)
fake[1] = ctypes.addressof(fake)
repr(ctypes.cast(ctypes.addressof(fake), ctypes.py_object).value)
