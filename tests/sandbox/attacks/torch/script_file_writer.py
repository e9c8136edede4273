# Write a file through the writer of archives.
# outcome: error

torch._C.PyTorchFileWriter("/tmp/backhand-attack")
won = torch.ones(())
