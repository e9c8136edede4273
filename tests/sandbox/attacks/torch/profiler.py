# Profile and write the trace.
# outcome: error|denied|memory|done|crashed

with torch.profiler.profile() as profile:
    torch.ones(3) + 1
profile.export_chrome_trace("/tmp/backhand-attack.json")
won = torch.ones(())
