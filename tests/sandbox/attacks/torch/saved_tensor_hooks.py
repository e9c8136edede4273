# Write saved tensors to disk.
# outcome: error|denied

with torch.autograd.graph.save_on_cpu(pin_memory=True):
    w = torch.ones(3, requires_grad=True)
    (w * w).sum().backward()
torch.save(w, "/tmp/backhand-attack")
won = torch.ones(())
