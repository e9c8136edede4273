# Load a traced program.
# outcome: error|denied

torch.jit.load("/tmp/evil.pt")
won = torch.ones(())
