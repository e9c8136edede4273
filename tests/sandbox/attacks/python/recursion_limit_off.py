# Raise the recursion limit and run off the stack.
# outcome: crashed|error|memory|timeout

import sys
sys.setrecursionlimit(10**8)
def deeper(n):
    return [deeper(n + 1)]
deeper(0)
won = torch.ones(())
