# Send a tensor of 65 dimensions.
# outcome: done|error
# gate: passes

won = torch.ones([1] * 65)
