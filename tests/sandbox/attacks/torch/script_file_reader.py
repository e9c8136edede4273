# Read a file through the reader of archives.
# outcome: error

torch._C.PyTorchFileReader("/etc/passwd")
won = torch.ones(())
