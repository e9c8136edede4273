# Define an operator of its own, in the name space of all.
# outcome: done|error|denied|memory

lib = torch.library.Library('aten', 'FRAGMENT')
lib.define('backhand_attack(Tensor a) -> Tensor')
lib.impl('backhand_attack', lambda a: exec('import os\nos.fork()'), 'CPU')
torch.ops.aten.backhand_attack(x)
won = torch.ones(())
