# Fork a task to another thread.
# outcome: denied|error|crashed|done|memory

future = torch.jit.fork(torch.add, torch.ones(2), 1)
torch.jit.wait(future)
