"""What answers tell their authors: numbers of each exercise, over many learners."""
