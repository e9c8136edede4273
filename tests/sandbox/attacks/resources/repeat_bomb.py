# Repeat a tensor without end.
# outcome: memory|error
# gate: passes

y = torch.ones(10).repeat(10**9)
won = torch.ones(())
