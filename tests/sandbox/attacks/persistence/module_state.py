# Leave something in a module.
# outcome: done

torch.left_behind = 1
math.left_behind = 1
