# Write an array into a file.
# outcome: error

import numpy
numpy.ones(3).tofile("/tmp/backhand-attack")
won = torch.ones(())
