# Ask for many threads again, in a product large enough for them.
# outcome: denied|done|error

torch.set_num_threads(8)
y = torch.ones(400, 400) @ torch.ones(400, 400)
