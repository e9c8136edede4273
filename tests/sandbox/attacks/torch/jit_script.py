# Compile a function.
# outcome: error|denied|done

def f(x: torch.Tensor):
    return x + 1
torch.jit.script(f)(torch.ones(3))
