# Change how operations are chosen.
# outcome: done|error

torch.use_deterministic_algorithms(True)
