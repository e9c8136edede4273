"""Item analysis: numbers of each exercise, over many learners."""
