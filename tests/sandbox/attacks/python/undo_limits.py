# Lift its limits with the functions that set them.
# outcome: denied|error

import resource
from app.sandbox import jail
jail.limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)
won = torch.ones(())
