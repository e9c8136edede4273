# Have the interpreter give up, with a message.
# outcome: crashed

import ctypes
ctypes.pythonapi.Py_FatalError(b'over')
