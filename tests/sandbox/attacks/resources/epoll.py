# Wait on descriptors of its own.
# outcome: denied|error

import select
select.epoll()
won = torch.ones(())
