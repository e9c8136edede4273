# Serve children as the zygote does.
# outcome: denied|error

from app.sandbox import service
service.start_child(None, None)
