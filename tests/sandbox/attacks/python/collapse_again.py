# Have pages gathered, with the zygote's own function.
# outcome: error

from app.sandbox import kernel
kernel.collapse(0, 2**21)
won = torch.ones(())
