# Raise an error in the middle of the harness, from outside.
# outcome: crashed|done|error

import ctypes, threading
for error in (SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration):
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()), ctypes.py_object(error))
y = torch.ones(3)
