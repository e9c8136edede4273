# Overflow the C stack by hashing nested tuples.
# outcome: crashed|error|memory|timeout

import sys
sys.setrecursionlimit(10**8)
nested = ()
for _ in range(10**6):
    nested = (nested,)
hash(nested)
won = torch.ones(())
