# A tensor that claims 10^12 numbers and holds one.
# outcome: done
# gate: passes

won = torch.ones(()).expand(10**6, 10**6)
