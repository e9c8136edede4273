# Make a socket of family 15.
# outcome: denied

import ctypes
ctypes.CDLL(None).socket(15, 1, 0)
won = torch.ones(())
