# Call fork of the C library.
# outcome: denied

import ctypes
ctypes.CDLL(None).fork()
won = torch.ones(())
