# Add up a sparse tensor whose places lie far outside.
# outcome: crashed|error|done|timeout|memory|denied

bad = torch.ops.aten._sparse_coo_tensor_unsafe(torch.tensor([[10**9, -10**9]]), torch.ones(2), [4])
y = bad.to_dense()
