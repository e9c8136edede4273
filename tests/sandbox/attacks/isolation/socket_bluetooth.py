# Make a socket of family 31.
# outcome: denied

import ctypes
ctypes.CDLL(None).socket(31, 1, 0)
won = torch.ones(())
