# Leave much to take down, so that the next run waits.
# outcome: done|memory
# gate: passes

y = [torch.ones(1000) for _ in range(40_000)]
del y[:]
z = torch.ones(5 * 10**7, dtype=torch.uint8)
