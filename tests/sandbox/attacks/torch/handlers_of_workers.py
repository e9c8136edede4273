# Have torch install handlers for signals.
# outcome: denied|error

torch._C._set_worker_signal_handlers()
won = torch.ones(())
