# Make a socket of family 29.
# outcome: denied

import ctypes
ctypes.CDLL(None).socket(29, 1, 0)
won = torch.ones(())
