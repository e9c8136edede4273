# Make a socket of family 38.
# outcome: denied

import ctypes
ctypes.CDLL(None).socket(38, 1, 0)
won = torch.ones(())
