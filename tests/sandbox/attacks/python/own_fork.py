# Fork with the function that the zygote forks with.
# outcome: denied

from app.sandbox import kernel
kernel.fork()
won = torch.ones(())
