# Turn every switch of torch that has a name.
# outcome: done|error

for name in dir(torch._C):
    if name.startswith("_set_") and "signal" not in name and "mkldnn" not in name and "thread" not in name:
        for value in (True, 1, "x", None):
            try:
                getattr(torch._C, name)(value)
            except BaseException:
                pass
y = torch.ones(2)
