# Make meta tensors everywhere.
# outcome: done|error

torch.set_default_device("meta")
y = torch.ones(3)
