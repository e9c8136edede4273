# Give advice that does more than advise.
# outcome: done

import ctypes
libc = ctypes.CDLL(None)
for advice in (9, 12, 100, 101, 102, 20, 21, 22, 23, 24, 25):
    if libc.madvise(None, 0, advice) == 0:
        won = torch.ones(())
