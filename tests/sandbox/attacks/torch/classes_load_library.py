# Load a shared library as classes.
# outcome: error

torch.classes.load_library("/tmp/evil.so")
won = torch.ones(())
