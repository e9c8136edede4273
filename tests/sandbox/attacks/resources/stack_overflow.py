# Recurse in C until the stack ends.
# outcome: crashed|error|memory

import sys
sys.setrecursionlimit(10**9)
y = eval
text = []
for _ in range(10**5):
    text = [text]
y = repr(text)
