# Reach builtins through a function's globals.
# outcome: denied|error

(lambda: 0).__globals__["__builtins__"]["__import__"]("os").fork()
won = torch.ones(())
