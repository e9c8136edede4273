# Serve children as the zygote does.
# outcome: denied|error

from app.sandbox import zygote_loop
zygote_loop.start_child(None, None)
