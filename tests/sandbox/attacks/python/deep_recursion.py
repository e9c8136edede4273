# Recurse without end.
# outcome: error|crashed
# gate: passes

def deeper(n):
    return deeper(n + 1)
deeper(0)
won = torch.ones(())
