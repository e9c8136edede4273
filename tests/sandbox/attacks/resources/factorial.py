# A factorial that takes for ever.
# outcome: timeout|memory
# gate: passes

y = math.factorial(10**8)
won = torch.ones(())
