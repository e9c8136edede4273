# Add up compressed rows whose ends lie far outside.
# outcome: crashed|error|done|timeout|memory|denied

bad = torch.ops.aten._sparse_csr_tensor_unsafe(torch.tensor([0, 10**6, 2 * 10**6]), torch.tensor([0, 1]), torch.ones(2), [2, 2])
y = bad.to_dense()
