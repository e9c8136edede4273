# An endless product made into a list.
# outcome: memory|timeout

import itertools
list(itertools.product(range(1000), repeat=5))
won = torch.ones(())
