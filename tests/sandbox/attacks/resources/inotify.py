# Make a watch.
# outcome: denied

import ctypes
ctypes.CDLL(None).inotify_init1(0)
won = torch.ones(())
