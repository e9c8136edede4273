# Learn from the processor time of others how their runs went.
# outcome: error

import resource
resource.getrusage(resource.RUSAGE_CHILDREN)
won = torch.ones(())
