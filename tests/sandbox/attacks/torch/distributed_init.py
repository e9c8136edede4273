# Open sockets for a process group.
# outcome: error|denied|memory

import torch.distributed as group
group.init_process_group("gloo", init_method="tcp://127.0.0.1:29501", rank=0, world_size=1)
won = torch.ones(())
