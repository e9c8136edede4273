# Sleep in poll.
# outcome: denied|error

import select
select.poll().poll(60000)
won = torch.ones(())
