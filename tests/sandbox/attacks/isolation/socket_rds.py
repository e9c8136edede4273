# Make a socket of family 21.
# outcome: denied

import ctypes
ctypes.CDLL(None).socket(21, 1, 0)
won = torch.ones(())
