# Read the lesson with its solution.
# outcome: error

open("lessons/2-tensors/01.md").read()
won = torch.ones(())
