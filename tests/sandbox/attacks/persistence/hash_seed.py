# Leave a different hash seed.
# outcome: done

import os
os.environ["PYTHONHASHSEED"] = "0"
