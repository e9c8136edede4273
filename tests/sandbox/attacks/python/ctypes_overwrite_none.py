# Break the interpreter's own objects.
# outcome: crashed|done|error|timeout|memory|denied

import ctypes
ctypes.memset(id(None), 0x41, 64)
