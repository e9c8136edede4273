# Make a timer descriptor.
# outcome: denied

import ctypes
ctypes.CDLL(None).timerfd_create(1, 0)
won = torch.ones(())
