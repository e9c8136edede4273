# Read a file as an array.
# outcome: error

import numpy
numpy.fromfile("/etc/passwd")
won = torch.ones(())
