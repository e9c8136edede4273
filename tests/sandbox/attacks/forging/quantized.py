# Send a quantized tensor.
# outcome: done|error

won = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8)
