# Write a traced program to a file.
# outcome: error|denied

traced = torch.jit.trace(lambda x: x + 1, torch.ones(3))
traced.save("/tmp/backhand-attack.pt")
won = torch.ones(())
