# Make a socket of family 1.
# outcome: denied

import ctypes
ctypes.CDLL(None).socket(1, 1, 0)
won = torch.ones(())
