# Open the memory of the parent.
# outcome: error|denied

import os
parent = os.getppid()
open(f"/proc/{parent}/mem", "rb")
won = torch.ones(())
