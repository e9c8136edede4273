# Make a socket of family 17.
# outcome: denied

import ctypes
ctypes.CDLL(None).socket(17, 1, 0)
won = torch.ones(())
