# Load a shared library as operators.
# outcome: error

torch.ops.load_library("/tmp/evil.so")
won = torch.ones(())
