# Write a file.
# outcome: error

open("/tmp/backhand-attack", "w").write("x")
won = torch.ones(())
