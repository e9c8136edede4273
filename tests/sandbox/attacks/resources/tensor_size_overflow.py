# A tensor whose size overflows.
# outcome: error|memory
# gate: passes

y = torch.empty(2**62, 2**62)
won = torch.ones(())
