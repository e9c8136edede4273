# Make shared memory with a name.
# outcome: error|denied

from multiprocessing import shared_memory
shared_memory.SharedMemory("backhand-attack", True, 4096)
won = torch.ones(())
