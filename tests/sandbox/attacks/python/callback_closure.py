# Have libffi make code at run time.
# outcome: denied|error|crashed|memory|done

import ctypes
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: 0)
