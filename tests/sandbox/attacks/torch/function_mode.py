# Take over every function from here on.
# outcome: done|error

from torch.overrides import TorchFunctionMode
class Zero(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return 0
Zero().__enter__()
