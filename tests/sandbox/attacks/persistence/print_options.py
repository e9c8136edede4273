# Change how tensors are shown.
# outcome: done

torch.set_printoptions(precision=1, threshold=1)
