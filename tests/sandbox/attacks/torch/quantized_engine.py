# Use kernels that write machine code.
# outcome: error|done|denied|crashed

torch.backends.quantized.engine = "fbgemm"
y = torch.quantize_per_tensor(torch.ones(4, 4), 1.0, 0, torch.quint8)
