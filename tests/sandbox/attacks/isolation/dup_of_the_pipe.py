# Copy the pipe to a number that no filter knows.
# outcome: denied

import os
os.dup2(3, 1)
os.write(1, b"Zd")
won = torch.ones(())
