# Raise a big number to a big power.
# outcome: timeout|memory|error
# gate: passes

y = (10**5000) ** (10**7)
won = torch.ones(())
