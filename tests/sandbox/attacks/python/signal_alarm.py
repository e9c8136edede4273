# Ask for an alarm.
# outcome: denied|error

import signal
signal.setitimer(signal.ITIMER_REAL, 0.01)
won = torch.ones(())
