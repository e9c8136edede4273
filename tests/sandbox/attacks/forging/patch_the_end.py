# Turn the word for done into the one for no memory.
# outcome: memory|done

from app.sandbox import frames
frames.END_DONE = frames.END_MEMORY
