# Turn on the library that writes machine code.
# outcome: error|done|denied|crashed

torch.backends.mkldnn.enabled = True
y = torch.nn.functional.conv2d(torch.ones(1, 3, 64, 64), torch.ones(8, 3, 3, 3))
