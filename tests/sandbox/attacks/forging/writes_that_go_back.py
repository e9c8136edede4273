# Make the harness believe that less than nothing was written.
# outcome: done|crashed|timeout|flood

import os
honest, left = os.write, [40]

def write(descriptor, data):
    left[0] -= 1
    honest(descriptor, data)
    return -1 if left[0] > 0 else len(data)

os.write = write
y = torch.ones(3)
