# Abort the process.
# outcome: crashed

import ctypes
ctypes.CDLL(None).abort()
won = torch.ones(())
