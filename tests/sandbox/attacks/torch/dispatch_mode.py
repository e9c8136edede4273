# Take over every operation from here on.
# outcome: done|error

from torch.utils._python_dispatch import TorchDispatchMode
class Zero(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return torch.zeros(())
Zero().__enter__()
