# Unpack rows whose lengths were changed after packing.
# outcome: crashed|error|done|timeout|memory|denied

y = torch._pad_packed_sequence(torch.ones(4, 2), torch.tensor([10**6, 1]), False, 0.0, 10**6)[0]
