# Start remote calls.
# outcome: error|denied|memory

import torch.distributed.rpc as rpc
rpc.init_rpc("a", rank=0, world_size=1)
won = torch.ones(())
