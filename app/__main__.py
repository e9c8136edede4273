"""`python -m app` is the `backhand` command."""

from app.cli import main

main()
