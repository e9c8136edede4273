# Change the default dtype.
# outcome: done

torch.set_default_dtype(torch.float16)
