# Start processes.
# outcome: error|denied

import torch.multiprocessing as several
several.Process(target=print).start()
won = torch.ones(())
