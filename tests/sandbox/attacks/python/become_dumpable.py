# Make its memory readable by others again.
# outcome: denied

from app.sandbox import kernel
kernel.prctl("PR_SET_DUMPABLE", kernel.PR_SET_DUMPABLE, 1)
won = torch.ones(())
