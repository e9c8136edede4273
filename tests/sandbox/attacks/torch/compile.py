# Generate and compile code.
# outcome: error|denied|memory|timeout

torch.compile(lambda x: x * 2)(torch.ones(3))
won = torch.ones(())
