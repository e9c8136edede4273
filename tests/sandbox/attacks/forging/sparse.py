# Send a sparse tensor.
# outcome: done

won = torch.eye(3).to_sparse()
