# A table of 10^9 classes.
# outcome: memory|error
# gate: passes

y = F.one_hot(torch.arange(3), 10**9)
won = torch.ones(())
