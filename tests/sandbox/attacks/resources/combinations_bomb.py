# Every choice of eight out of a hundred.
# outcome: memory|error|timeout
# gate: passes

y = torch.combinations(torch.arange(100.0), 8)
