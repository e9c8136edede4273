# Compile C++.
# outcome: error|denied

from torch.utils import cpp_extension
cpp_extension.load_inline("evil", ["int f(){return 1;}"], functions=["f"])
won = torch.ones(())
