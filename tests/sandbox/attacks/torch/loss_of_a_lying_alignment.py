# Align targets that are no classes.
# outcome: crashed|error|done|timeout|memory|denied

y = F.ctc_loss(torch.randn(9, 1, 4).log_softmax(2), torch.tensor([[10**7, -10**7, 5]]), [9], [3])
