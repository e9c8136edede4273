# Have the interpreter leave in the middle of the harness.
# outcome: crashed|done|denied

import ctypes
leave = ctypes.cast(ctypes.CDLL(None)._exit, ctypes.c_void_p)
ctypes.pythonapi.Py_AddPendingCall(leave, None)
