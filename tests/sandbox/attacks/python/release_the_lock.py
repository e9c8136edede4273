# Let go of the interpreter's lock and go on.
# outcome: crashed|error|timeout|done

import ctypes
ctypes.CDLL(None).PyEval_SaveThread()
for _ in range(1000):
    pass
