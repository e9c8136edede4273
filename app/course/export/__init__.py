"""A lesson as a notebook, a script or a text to take away: its own prose, its programs, and the learner's code.

Nothing is run here. What an export needs in order to run is written into it.
"""

from app.content.export.notebook import Drawing, NotebookCell, Work
from app.course.export.forms import EXPORT_FORMS, written_as
from app.course.export.lesson_cells import cells_of

__all__ = ["EXPORT_FORMS", "Drawing", "NotebookCell", "Work", "cells_of", "written_as"]
