# Turn warnings into errors.
# outcome: done

import warnings
warnings.simplefilter("error")
