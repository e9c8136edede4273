# Read a file as tensors.
# outcome: error

torch.load("/etc/passwd")
won = torch.ones(())
