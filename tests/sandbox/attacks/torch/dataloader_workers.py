# Start workers that load data.
# outcome: error|denied

from torch.utils.data import DataLoader
for batch in DataLoader(list(range(4)), num_workers=2):
    won = torch.ones(())
