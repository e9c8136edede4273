"""A lesson as a notebook, a script or a text to take away: its own prose, its programs, and the learner's code.

Nothing is run here. What an export needs in order to run is written into it.
"""

from app.content.export.cells import Cell, Drawing, Work
from app.content.export.forms import FORMS, written_as
from app.content.export.lesson import cells_of

__all__ = ["FORMS", "Cell", "Drawing", "Work", "cells_of", "written_as"]
