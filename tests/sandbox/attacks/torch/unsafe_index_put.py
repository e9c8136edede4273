# Write beyond the end of a tensor through an operation that does not look.
# outcome: error|crashed|done

torch.ops.aten._index_put_impl_(x.view(-1), [torch.tensor([10**9])], torch.ones(1, dtype=x.dtype), False, True)
won = torch.ones(())
