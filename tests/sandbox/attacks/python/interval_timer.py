# Set a timer that wakes it.
# outcome: denied

import signal
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
won = torch.ones(())
