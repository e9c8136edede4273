# Load a library from disk.
# outcome: error

import ctypes
ctypes.CDLL("libm-other.so.6")
won = torch.ones(())
