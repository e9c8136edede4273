# Make a shared file.
# outcome: error|denied

from multiprocessing import shared_memory
shared_memory.SharedMemory("backhand-attack", create=True, size=10)
won = torch.ones(())
