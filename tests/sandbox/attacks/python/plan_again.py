# Plan another confinement, with the zygote's own function.
# outcome: error|denied

from app.sandbox import protection, jail
jail.confine(protection.plan(), jail.Run(job_bytes=0, seconds=99))
won = torch.ones(())
