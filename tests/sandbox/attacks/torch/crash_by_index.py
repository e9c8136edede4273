# Index far outside.
# outcome: error
# gate: passes

y = x.flatten()[10**9]
won = torch.ones(())
