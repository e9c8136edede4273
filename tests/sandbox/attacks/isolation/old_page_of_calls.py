# Jump to the page of calls that old programs used.
# outcome: crashed|error|done|denied
# machine: x86_64

import ctypes
for place in (0xFFFFFFFFFF600000, 0xFFFFFFFFFF600400, 0xFFFFFFFFFF600800):
    ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(place)(None)
