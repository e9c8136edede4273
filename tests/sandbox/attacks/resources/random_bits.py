# Draw a number of ten billion bits.
# outcome: memory|error|timeout

import random
y = random.getrandbits(2**31 - 1) + (1 << 2**33)
won = torch.ones(())
