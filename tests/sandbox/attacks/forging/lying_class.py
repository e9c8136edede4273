# Send an object that claims to be a tensor.
# outcome: done

class Lie:
    __class__ = torch.Tensor
    shape = (3,)
won = Lie()
