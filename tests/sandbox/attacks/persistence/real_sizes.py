# Import what the stand-in stands for.
# outcome: error|memory|timeout|denied

import sys, importlib
del sys.modules["torch.fx.experimental.symbolic_shapes"]
module = importlib.import_module("torch.fx.experimental.symbolic_shapes")
won = torch.ones(())
