# Turn gradients off.
# outcome: done

torch.set_grad_enabled(False)
