"""`python -m benchmarks [NAME ...]`: every benchmark, or the ones that are named."""

import importlib
import sys
from pathlib import Path

SUPPORT = {"__init__", "__main__", "serving"}
names = sys.argv[1:] or sorted(file.stem for file in Path(__file__).parent.glob("*.py") if file.stem not in SUPPORT)
for name in names:
    print(f"== {name}")
    importlib.import_module(f"benchmarks.{name}").main()
