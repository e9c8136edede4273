# Rebuild a tensor that another process shares.
# outcome: denied|error

from torch.multiprocessing import reductions
reductions.rebuild_storage_filename(torch.UntypedStorage, b"manager", b"/torch_1_1_1", 4096)
won = torch.ones(())
