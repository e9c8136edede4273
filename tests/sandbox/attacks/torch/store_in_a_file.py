# Meet others at a file.
# outcome: error|denied

from torch._C import _distributed_c10d as c10d
c10d.FileStore('/tmp/backhand-attack', 2).set('a', 'b')
won = torch.ones(())
