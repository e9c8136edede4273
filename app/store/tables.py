"""What is kept about learners: one class per table, no queries.

Lessons and exercises are kept by their ids (`lesson`, `exercise`), never by slug or position, so a course may be
reordered freely. Submissions are plain text; verdicts are JSON text that only `app.web` reads.
"""

from datetime import datetime
from typing import ClassVar

from sqlalchemy import ForeignKey, Index, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from app.store.database import Moment

NAME_LENGTH = 200


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar = {datetime: Moment}


class Learner(Base):
    """Somebody who learns. *opened_lesson* is the lesson that was opened last, at *opened_at*."""

    __tablename__ = "learner"

    id: Mapped[int] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    opened_lesson: Mapped[str | None] = mapped_column(String(NAME_LENGTH))
    opened_at: Mapped[datetime | None]


class Session(Base):
    """A browser of a learner. Only a hash of its token is kept: a copy of the database opens no session."""

    __tablename__ = "session"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    learner_id: Mapped[int] = mapped_column(ForeignKey("learner.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime]


class Draft(Base):
    """The text that stands in a code box now.

    *revision* counts its changes, so that a save from an outdated tab is noticed. *run* is what the last run without
    a verdict showed, as JSON.
    """

    __tablename__ = "draft"

    learner_id: Mapped[int] = mapped_column(ForeignKey("learner.id", ondelete="CASCADE"), primary_key=True)
    lesson: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    exercise: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    text: Mapped[str] = mapped_column(Text)
    revision: Mapped[int]
    saved_at: Mapped[datetime]
    run: Mapped[str | None] = mapped_column(Text)


class Kept(Base):
    """A text that was replaced without having been checked: by a reset, a restore, or another tab (*reason*)."""

    __tablename__ = "kept"
    __table_args__ = (Index(None, "learner_id", "lesson", "exercise"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    learner_id: Mapped[int] = mapped_column(ForeignKey("learner.id", ondelete="CASCADE"))
    lesson: Mapped[str] = mapped_column(String(NAME_LENGTH))
    exercise: Mapped[str] = mapped_column(String(NAME_LENGTH))
    text: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(String(20))
    kept_at: Mapped[datetime]


class Attempt(Base):
    """One quiz answer or one check of a code box, with what was said about it.

    *correct* is None where nothing was judged: an empty answer, a busy or broken grader. *code* is the stable diagnosis
    code. *task_key* identifies task and text together, so that the same text is not graded twice.
    """

    __tablename__ = "attempt"
    __table_args__ = (Index(None, "learner_id", "lesson", "exercise"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    learner_id: Mapped[int] = mapped_column(ForeignKey("learner.id", ondelete="CASCADE"))
    lesson: Mapped[str] = mapped_column(String(NAME_LENGTH))
    exercise: Mapped[str] = mapped_column(String(NAME_LENGTH))
    kind: Mapped[str] = mapped_column(String(10))
    text: Mapped[str] = mapped_column(Text)
    verdict: Mapped[str] = mapped_column(Text)
    correct: Mapped[bool | None]
    code: Mapped[str | None] = mapped_column(String(NAME_LENGTH))
    task_key: Mapped[str | None] = mapped_column(String(64), index=True)
    created_at: Mapped[datetime]


class Progress(Base):
    """How far a learner is with one exercise; times are None until it happened."""

    __tablename__ = "progress"

    learner_id: Mapped[int] = mapped_column(ForeignKey("learner.id", ondelete="CASCADE"), primary_key=True)
    lesson: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    exercise: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    solved_at: Mapped[datetime | None]
    hints: Mapped[int] = mapped_column(default=0)
    solution_at: Mapped[datetime | None]


class TrainingRun(Base):
    """The last training run of one exercise.

    *run* is how far it has come, as JSON; *attempt_id* the check whose code it trains with, *passing* what was said of
    it. *finished* is the last run that went to its end, as JSON; it outlives later ones that do not. A *live* run that
    nobody has *seen_at* for a while was left by its *owner*, the process that drove it; another goes on with it from
    *halt*, JSON that is read for nothing else. *stopping* asks it to end, from any process.
    """

    __tablename__ = "training"

    learner_id: Mapped[int] = mapped_column(ForeignKey("learner.id", ondelete="CASCADE"), primary_key=True)
    lesson: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    exercise: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    preset: Mapped[str] = mapped_column(String(NAME_LENGTH))
    attempt_id: Mapped[int | None]
    passing: Mapped[bool]
    run: Mapped[str] = mapped_column(Text)
    finished: Mapped[str | None] = mapped_column(Text)
    live: Mapped[bool]
    stopping: Mapped[bool]
    owner: Mapped[str | None] = mapped_column(String(40))
    halt: Mapped[str | None] = mapped_column(Text, deferred=True)
    began_at: Mapped[datetime]
    seen_at: Mapped[datetime]
