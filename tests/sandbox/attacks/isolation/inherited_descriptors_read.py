# Read from every descriptor.
# outcome: error|done

import os
for number in range(200):
    try:
        os.read(number, 1)
        won = torch.ones(())
    except OSError:
        pass
