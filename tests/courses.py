"""The courses that tests read: each once in a process, for the course of this project takes a second to read."""

from functools import cache
from pathlib import Path

from app.course.course import load_course

LESSONS = Path(__file__).resolve().parents[1] / "lessons"
ARCHITECTURES = Path(__file__).resolve().parent / "architectures"
course_in = cache(load_course)
