# Join lists in a way whose cost grows with the square.
# outcome: timeout|memory
# gate: passes

y = sum([[one] for one in range(10**6)], [])
won = torch.ones(())
