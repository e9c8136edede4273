# Make a socket of family 44.
# outcome: denied

import ctypes
ctypes.CDLL(None).socket(44, 1, 0)
won = torch.ones(())
