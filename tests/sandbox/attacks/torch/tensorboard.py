# Write logs.
# outcome: error|denied|memory

from torch.utils.tensorboard import SummaryWriter
SummaryWriter("/tmp/backhand-attack")
won = torch.ones(())
