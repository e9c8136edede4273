# Fork by another call.
# outcome: denied

import ctypes
ctypes.CDLL(None).vfork()
won = torch.ones(())
