# Be a grader with a jail of its own.
# outcome: error|denied

from app.sandbox.runner import Jail
Jail(unsafe=True)
won = torch.ones(())
