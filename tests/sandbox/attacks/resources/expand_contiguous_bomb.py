# Make the claim true.
# outcome: memory
# gate: passes

y = torch.ones(()).expand(10**6, 10**6).contiguous()
won = torch.ones(())
