# Replace an operator for everyone.
# outcome: error|done

library = torch.library.Library("aten", "IMPL")
library.impl("tanh", lambda x: x * 0, "CPU")
