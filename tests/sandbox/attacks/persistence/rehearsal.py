# Change what the children of the zygote rehearse.
# outcome: done

from app.sandbox import rehearsal, harness
from app.sandbox import zygote_loop
rehearsal.SOURCE = rehearsal.HEADER["source"] = "import os\nos._exit(0)"
rehearsal.DRIVER = "probe"
harness.rehearse = zygote_loop.IDLE_SECONDS = None
