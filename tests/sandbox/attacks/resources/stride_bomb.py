# A transposed convolution with an enormous step.
# outcome: memory|error
# gate: passes

y = F.conv_transpose1d(torch.ones(1, 1, 9), torch.ones(1, 1, 9), stride=10**9)
