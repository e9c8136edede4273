# Make an event descriptor.
# outcome: denied

import ctypes
ctypes.CDLL(None).eventfd(0, 0)
won = torch.ones(())
