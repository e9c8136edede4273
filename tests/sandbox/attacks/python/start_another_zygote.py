# Start a zygote of its own.
# outcome: denied|error

from app.sandbox.process import Zygote
Zygote()
won = torch.ones(())
