# Make a socket of family 10.
# outcome: denied

import ctypes
ctypes.CDLL(None).socket(10, 1, 0)
won = torch.ones(())
