# Ask for real-time scheduling.
# outcome: denied|error

import os
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
won = torch.ones(())
