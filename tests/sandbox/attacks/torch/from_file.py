# Map a file as a tensor.
# outcome: error|denied

torch.from_file("/etc/passwd", size=10, dtype=torch.uint8)
won = torch.ones(())
