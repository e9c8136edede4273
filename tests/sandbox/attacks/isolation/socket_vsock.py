# Make a socket of family 40.
# outcome: denied

import ctypes
ctypes.CDLL(None).socket(40, 1, 0)
won = torch.ones(())
