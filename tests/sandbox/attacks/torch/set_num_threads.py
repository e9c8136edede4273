# Start threads for arithmetic.
# outcome: denied|error|done|timeout|crashed

torch.set_num_threads(8)
y = torch.ones(3000, 3000) @ torch.ones(3000, 300)
