# Sleep.
# outcome: denied

import time
time.sleep(60)
won = torch.ones(())
