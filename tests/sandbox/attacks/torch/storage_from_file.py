# Map a file as storage.
# outcome: error|denied

torch.UntypedStorage.from_file("/etc/passwd", False, 10)
won = torch.ones(())
