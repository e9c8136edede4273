# Make the harness announce other sizes than it sends.
# outcome: crashed|done

from app.sandbox import frames
honest = frames.tensor_head
frames.tensor_head = lambda key, dtype, shape: honest(key, dtype, [2**40, *shape])
y = torch.ones(3)
