# Make a queue between processes.
# outcome: error|denied

import torch.multiprocessing as several
several.Queue()
won = torch.ones(())
