# Raise its own limits again.
# outcome: error|denied

import resource
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
won = torch.ones(())
