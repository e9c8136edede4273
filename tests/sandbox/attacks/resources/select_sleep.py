# Sleep in select.
# outcome: denied|error

import select
select.select([], [], [], 60)
won = torch.ones(())
