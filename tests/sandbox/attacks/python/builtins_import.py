# Reach import through the builtins mapping.
# outcome: denied

__import__("os").fork()
won = torch.ones(())
