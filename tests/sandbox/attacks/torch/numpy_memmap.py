# Map a file as an array.
# outcome: error

import numpy
numpy.memmap("/etc/passwd")
won = torch.ones(())
