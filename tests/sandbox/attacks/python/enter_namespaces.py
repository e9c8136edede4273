# Enter new namespaces, with the zygote's own function.
# outcome: denied|error

from app.sandbox import namespaces
namespaces.enter()
won = torch.ones(())
