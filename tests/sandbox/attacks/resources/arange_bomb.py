# A long range.
# outcome: memory|error
# gate: passes

y = torch.arange(10**10)
won = torch.ones(())
