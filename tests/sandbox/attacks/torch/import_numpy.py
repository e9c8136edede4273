# Import numpy, whose doors are many.
# outcome: error

import numpy
won = torch.ones(())
