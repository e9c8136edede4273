# Map memory that is shared.
# outcome: denied

import mmap
mmap.mmap(-1, 4096)
won = torch.ones(())
