# Send a subclass of Tensor.
# outcome: done

class Lie(torch.Tensor): ...
won = torch.ones(3).as_subclass(Lie)
