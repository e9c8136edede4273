# Every choice of one number of each of six rows.
# outcome: memory|error|timeout
# gate: passes

y = torch.cartesian_prod(*[torch.arange(100.0)] * 6)
