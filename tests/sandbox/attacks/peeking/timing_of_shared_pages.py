# Learn from the time of a read whether others have used a page of a library.
# outcome: done|timeout|error

import time, ctypes
libc = ctypes.CDLL(None)
place = ctypes.cast(libc.puts, ctypes.c_void_p).value & ~4095
times = []
for page in range(place, place + 16 * 4096, 4096):
    libc.madvise(ctypes.c_void_p(page), 4096, 4)
    start = time.perf_counter_ns()
    ctypes.string_at(page, 1)
    times.append(time.perf_counter_ns() - start)
y = torch.tensor(times)
