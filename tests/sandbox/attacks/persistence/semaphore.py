# Make a semaphore with a name.
# outcome: error|denied

import _multiprocessing
_multiprocessing.SemLock(1, 1, 1, "/backhand-attack", False)
won = torch.ones(())
