# Change how the processor rounds.
# outcome: done

torch.set_flush_denormal(True)
