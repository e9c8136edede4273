# Send a nested tensor.
# outcome: done|error

won = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
