# A tensor of four gigabytes.
# outcome: memory
# gate: passes

y = torch.zeros(10**9)
won = torch.ones(())
