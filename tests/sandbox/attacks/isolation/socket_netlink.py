# Make a socket of family 16.
# outcome: denied

import ctypes
ctypes.CDLL(None).socket(16, 1, 0)
won = torch.ones(())
