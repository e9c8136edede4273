# Make and map a shared file.
# outcome: error|denied

torch.UntypedStorage.from_file("/tmp/backhand-attack", True, 10)
won = torch.ones(())
