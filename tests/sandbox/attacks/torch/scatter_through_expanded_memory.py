# Write a million times into one number that claims to be many.
# outcome: error|done|crashed
# gate: passes

y = torch.zeros(1).expand(10**6)
y.copy_(torch.arange(10.0**6))
