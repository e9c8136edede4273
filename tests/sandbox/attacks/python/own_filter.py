# Install another filter with the class that installed this one.
# outcome: denied|error

from app.sandbox import seccomp
seccomp.Filter().install()
won = torch.ones(())
