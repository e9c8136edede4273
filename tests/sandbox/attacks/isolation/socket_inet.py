# Make a socket of family 2.
# outcome: denied

import ctypes
ctypes.CDLL(None).socket(2, 1, 0)
won = torch.ones(())
