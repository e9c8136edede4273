# Write a file.
# outcome: error

torch.save(torch.ones(2), "/tmp/backhand-attack")
won = torch.ones(())
