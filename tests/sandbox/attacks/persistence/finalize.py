# End the interpreter properly, with everything that waits for its end.
# outcome: crashed|denied|done

import ctypes, atexit, os
atexit.register(os.write, 3, b"Zd")
ctypes.pythonapi.Py_FinalizeEx()
