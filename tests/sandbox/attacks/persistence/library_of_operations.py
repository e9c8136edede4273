# Give torch an operation that answers for another.
# outcome: done|error

library = torch.library.Library("aten", "IMPL")
library.impl("tanh", lambda t: t * 0, "CPU")
torch.backhand_attack = library
