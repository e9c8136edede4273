# Leave a process behind.
# outcome: denied

import os
if os.fork() == 0:
    os.setsid()
    while True:
        pass
won = torch.ones(())
