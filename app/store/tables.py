"""Tables of learners and classes: one class per table, no queries.

Lessons and exercises are kept by their ids (`lesson`, `exercise`), never by slug or position, so a course may be
reordered freely. Submissions are plain text; verdicts are JSON text that only `app.web` reads. A table is called as its
class; a column ends in `_at` for a moment, in `_id` for a row elsewhere and in `_json` for JSON text.
"""

import re
from datetime import date, datetime
from typing import Annotated, ClassVar

from sqlalchemy import ForeignKey, Index, MetaData, String, Text, UniqueConstraint, false, text
from sqlalchemy.orm import DeclarativeBase, Mapped, declared_attr, mapped_column

from app.store.database import UtcDateTime

NAME_LENGTH = 200

Key = Annotated[int, mapped_column(primary_key=True)]
Name = Annotated[str, mapped_column(String(NAME_LENGTH))]
LearnerId = Annotated[int, mapped_column(ForeignKey("learner.id", ondelete="CASCADE"))]
ClassId = Annotated[int, mapped_column(ForeignKey("class.id", ondelete="CASCADE"))]
AssignmentId = Annotated[int, mapped_column(ForeignKey("assignment.id", ondelete="CASCADE"))]
PlatformId = Annotated[int, mapped_column(ForeignKey("lti_platform.id", ondelete="CASCADE"))]
ContextId = Annotated[int, mapped_column(ForeignKey("lti_context.id", ondelete="CASCADE"))]
Author = Annotated[int, mapped_column(ForeignKey("learner.id", ondelete="SET NULL"))]
"""Who did something, as long as they are known."""


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        }
    )
    type_annotation_map: ClassVar = {datetime: UtcDateTime, str: Text}

    @declared_attr.directive
    @classmethod
    def __tablename__(cls) -> str:
        """Name of the table: that of the class, `one_time_token` for `OneTimeToken`."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()


class Learner(Base):
    """A learner, called *name* once they gave one. *opened_lesson* was opened last, at *opened_at*.

    A learner who *teaches* may make classes.
    """

    id: Mapped[Key]
    created_at: Mapped[datetime]
    opened_lesson: Mapped[Name | None]
    opened_at: Mapped[datetime | None]
    name: Mapped[Name | None]
    teaches: Mapped[bool] = mapped_column(default=False, server_default=false())


class Session(Base):
    """A browser of a learner. Only a hash of its token is kept: a copy of the database opens no session.

    *label* tells the browser in words; *credential_id* is the credential that it was signed in with, and ends with it.
    One that is *embedded* is known in the frame of a learning platform alone, and for hours.
    """

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    learner_id: Mapped[LearnerId] = mapped_column(index=True)
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    label: Mapped[Name | None]
    credential_id: Mapped[int | None] = mapped_column(ForeignKey("credential.id", ondelete="CASCADE"), index=True)
    embedded: Mapped[bool] = mapped_column(default=False, server_default=false())


class Credential(Base):
    """A way to sign in: who has it, is *learner_id*; without one, a learner is anonymous.

    *kind* is `passkey`, `oidc`, `lti`, `email`, `password` or `proxy`; *issuer* and *subject* say whose it is there.
    *secret* is a password's argon2 hash or a passkey's public key in base64; *verified* tells that a person proved to
    be the subject. *roster_id* is theirs at their school, as the provider said when they signed in last.
    """

    __table_args__ = (UniqueConstraint("kind", "issuer", "subject"),)

    id: Mapped[Key]
    learner_id: Mapped[LearnerId] = mapped_column(index=True)
    kind: Mapped[str] = mapped_column(String(20))
    issuer: Mapped[str]
    subject: Mapped[str]
    secret: Mapped[str | None]
    sign_count: Mapped[int | None]
    verified: Mapped[bool]
    created_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    roster_id: Mapped[Name | None]


class OneTimeToken(Base):
    """A secret that lives for minutes, by its hash: what it is for (*purpose*), with data.

    *tries* counts the wrong answers to it.
    """

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    purpose: Mapped[str] = mapped_column(String(20))
    data_json: Mapped[str]
    tries: Mapped[int]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class Draft(Base):
    """The draft of a code box.

    *revision* counts its changes, so that a save from an outdated tab is noticed. *run_json* is what the last run
    without a verdict showed.
    """

    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True)
    lesson: Mapped[Name] = mapped_column(primary_key=True)
    exercise: Mapped[Name] = mapped_column(primary_key=True)
    text: Mapped[str]
    revision: Mapped[int]
    saved_at: Mapped[datetime]
    run_json: Mapped[str | None]


class ReplacedText(Base):
    """A text that was replaced unchecked: by a reset, a restore, another tab, or a sign-in (*reason*)."""

    __table_args__ = (Index(None, "learner_id", "lesson", "exercise"),)

    id: Mapped[Key]
    learner_id: Mapped[LearnerId]
    lesson: Mapped[Name]
    exercise: Mapped[Name]
    text: Mapped[str]
    reason: Mapped[str] = mapped_column(String(20))
    replaced_at: Mapped[datetime]


class Attempt(Base):
    """One quiz answer or one check of a code box, with what was said about it.

    *correct* is None where nothing was judged: an empty answer, a busy or broken grader. *code* is the stable diagnosis
    code. *task_key* identifies task and text together, so that the same text is not graded twice. *revision* is that of
    the draft when it was checked.
    """

    __table_args__ = (
        Index(None, "learner_id", "lesson", "exercise"),
        Index(None, "learner_id", "id"),
        # For the mistakes of the last minutes: most attempts have none.
        Index(None, "created_at", sqlite_where=text("code IS NOT NULL"), postgresql_where=text("code IS NOT NULL")),
    )

    id: Mapped[Key]
    learner_id: Mapped[LearnerId]
    lesson: Mapped[Name]
    exercise: Mapped[Name]
    kind: Mapped[str] = mapped_column(String(10))
    text: Mapped[str]
    verdict_json: Mapped[str]
    correct: Mapped[bool | None]
    code: Mapped[Name | None]
    task_key: Mapped[str | None] = mapped_column(String(64), index=True)
    created_at: Mapped[datetime]
    revision: Mapped[int | None]


class Progress(Base):
    """Progress of a learner at one exercise; each time is None until it happened. It was solved in this *edition*."""

    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True)
    lesson: Mapped[Name] = mapped_column(primary_key=True)
    exercise: Mapped[Name] = mapped_column(primary_key=True)
    solved_at: Mapped[datetime | None]
    hints: Mapped[int] = mapped_column(default=0)
    solution_at: Mapped[datetime | None]
    edition: Mapped[str | None] = mapped_column(String(16))


class Moment(Base):
    """Moment at which a learner first opened a hint of an exercise (*what* is `hint-1` and on).

    That they opened the page of a lesson is `seen`, and of no exercise (""). Progress knows when a solution was opened.
    """

    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True)
    lesson: Mapped[Name] = mapped_column(primary_key=True)
    exercise: Mapped[Name] = mapped_column(primary_key=True)
    what: Mapped[str] = mapped_column(String(20), primary_key=True)
    happened_at: Mapped[datetime]


class ExerciseEdition(Base):
    """Wording of an exercise as it was served from *since* on: *edition* is another one after every change of it."""

    __table_args__ = (Index(None, "lesson", "exercise"),)

    id: Mapped[Key]
    lesson: Mapped[Name]
    exercise: Mapped[Name]
    edition: Mapped[str] = mapped_column(String(16))
    since: Mapped[datetime]


class ItemReport(Base):
    """Report on exercises (JSON), as of *made_at*; it was *asked_at* last.

    *id* is the number of the class whose learners it is about, or 0 where it is about all.
    """

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    class_id: Mapped[ClassId | None]
    asked_at: Mapped[datetime]
    made_at: Mapped[datetime | None]
    report_json: Mapped[str | None]


class TrainingRun(Base):
    """The last training run of one exercise.

    *snapshot_json* is how far it has come; *attempt_id* the check whose code it trains with, *passing* its outcome.
    *finished_json* is the last completed run; later runs that do not complete leave it unchanged. A *live* run whose
    lease was not renewed for a while has lost its *owner*, the process that drove it; another continues it from
    *checkpoint_json*, which is read for nothing else. *stopping* asks it to end, from any process.
    """

    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True)
    lesson: Mapped[Name] = mapped_column(primary_key=True)
    exercise: Mapped[Name] = mapped_column(primary_key=True)
    preset: Mapped[Name]
    attempt_id: Mapped[int | None]
    passing: Mapped[bool]
    snapshot_json: Mapped[str]
    finished_json: Mapped[str | None]
    live: Mapped[bool]
    stopping: Mapped[bool]
    owner: Mapped[str | None] = mapped_column(String(40))
    checkpoint_json: Mapped[str | None] = mapped_column(deferred=True)
    began_at: Mapped[datetime]
    lease_renewed_at: Mapped[datetime]


class Class(Base):
    """A group that learns together.

    *timezone*, by its name, is the one in which its dates are meant. *join_code* is nine characters, None where no one
    may join by one; *joining* is `open`, `closed` or `invited`. Nothing of it stays after *keep_until*. Where
    *assistants_grade*, they may give more time and set grades. With *attempts_out* its instructors may take attempts
    out, under pseudonyms.
    """

    id: Mapped[Key]
    name: Mapped[Name]
    timezone: Mapped[Name]
    join_code: Mapped[str | None] = mapped_column(String(9), unique=True)
    joining: Mapped[str] = mapped_column(String(10))
    created_by: Mapped[Author | None]
    created_at: Mapped[datetime]
    archived_at: Mapped[datetime | None]
    keep_until: Mapped[date | None]
    assistants_grade: Mapped[bool] = mapped_column(default=False, server_default=false())
    attempts_out: Mapped[bool] = mapped_column(default=False, server_default=false())


class Membership(Base):
    """Member of a class, as *role* (`learner`, `assistant`, `instructor`), called *name* there.

    *external_id* is theirs in the roster of the school, *label* a group within the class. Who is expected, and has not
    *joined_at* any time, is a learner without a browser until then. *blocked* keeps them from joining again.
    *seated_by* is how a seat that was kept was taken: by `name`, `id`, `claim` of a provider or personal `link`.
    """

    __table_args__ = (UniqueConstraint("class_id", "external_id"),)

    class_id: Mapped[ClassId] = mapped_column(primary_key=True)
    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(10))
    name: Mapped[Name]
    external_id: Mapped[Name | None]
    label: Mapped[Name | None]
    joined_at: Mapped[datetime | None]
    left_at: Mapped[datetime | None]
    blocked: Mapped[bool]
    seated_by: Mapped[str | None] = mapped_column(String(10))


class RosterChange(Base):
    """Change that the last list made to one person of a roster: they are new, or had other names before.

    *name*, *external_id* and *label* are those of before, or those that the list gave to a new person.
    """

    class_id: Mapped[ClassId] = mapped_column(primary_key=True)
    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True, index=True)
    changed_at: Mapped[datetime]
    is_new: Mapped[bool]
    name: Mapped[Name]
    external_id: Mapped[Name | None]
    label: Mapped[Name | None]


class FormerMember(Base):
    """Stored grades of a learner who left a class at *left_at*: their name and points, and no text of theirs.

    *reason* is `left`, `removed`, `deleted` or `forgotten`. By assignment, *solved_json* has the exercises that count,
    each with whether it was in time ("" for a sitting that was graded since), and their own due date if they had one;
    *overrides_json* has the grades that were set by hand. *learner_id* goes with the learner.
    """

    id: Mapped[Key]
    class_id: Mapped[ClassId] = mapped_column(index=True)
    learner_id: Mapped[Author | None] = mapped_column(index=True)
    name: Mapped[Name]
    external_id: Mapped[Name | None]
    label: Mapped[Name | None]
    left_at: Mapped[datetime]
    reason: Mapped[str] = mapped_column(String(10))
    solved_json: Mapped[str]
    overrides_json: Mapped[str]


class GivenUnit(Base):
    """A private unit that a class may be assigned lessons of, by the name of its folder."""

    class_id: Mapped[ClassId] = mapped_column(primary_key=True)
    unit: Mapped[Name] = mapped_column(primary_key=True)


class Notice(Base):
    """Notice to a learner of a change to their account or seat: *kind* `password` or `seat`, with data.

    It is on all their pages until *read_at*, and on the page of what is kept of them for longer.
    """

    id: Mapped[Key]
    learner_id: Mapped[LearnerId] = mapped_column(index=True)
    created_at: Mapped[datetime]
    kind: Mapped[str] = mapped_column(String(20))
    data_json: Mapped[str]
    read_at: Mapped[datetime | None]


class ProblemReport(Base):
    """Report of a learner: what they *said* is wrong with an exercise, and their *text*, in this *edition* of it.

    An author settled it at *settled_at*: with an *answer*, or without one where it is empty.
    """

    id: Mapped[Key]
    learner_id: Mapped[LearnerId] = mapped_column(index=True)
    created_at: Mapped[datetime]
    lesson: Mapped[Name]
    exercise: Mapped[Name]
    edition: Mapped[str] = mapped_column(String(16))
    said: Mapped[str]
    text: Mapped[str]
    browser: Mapped[Name]
    settled_at: Mapped[datetime | None]
    settled_by: Mapped[Author | None]
    answer: Mapped[str] = mapped_column(default="", server_default="")


class LearnerView(Base):
    """That *seen_by*, an instructor of a class, looked at pages as *learner_id* sees them, from *began_at* on.

    Their browser knows of it by a token, of which this is the hash.
    """

    id: Mapped[Key]
    learner_id: Mapped[LearnerId] = mapped_column(index=True)
    class_id: Mapped[int | None] = mapped_column(ForeignKey("class.id", ondelete="SET NULL"))
    seen_by: Mapped[Author | None]
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    began_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class WrittenSentence(Base):
    """Sentence that *learner_id*, who teaches, *said* to all who make one *mistake* that nothing else names.

    It belongs to a class, or to the course where that is None. *mistake* is the code of attempts with the key of their
    numbers, in this *edition*; *example* is a text that makes it.
    """

    __table_args__ = (Index(None, "lesson", "exercise"),)

    id: Mapped[Key]
    class_id: Mapped[ClassId | None]
    lesson: Mapped[Name]
    exercise: Mapped[Name]
    edition: Mapped[str] = mapped_column(String(16))
    mistake: Mapped[Name]
    said: Mapped[str]
    example: Mapped[str]
    learner_id: Mapped[Author | None]
    written_at: Mapped[datetime]
    withdrawn_by: Mapped[Author | None]
    withdrawn_at: Mapped[datetime | None]


class Comparison(Base):
    """Two wordings, *first* and *second*, of which a class finds out which one helps; *learner_id* began it.

    They are *about* a mistake at an exercise, by its code, or about a hint of it (`hint-1` and on).
    """

    id: Mapped[Key]
    class_id: Mapped[ClassId]
    lesson: Mapped[Name] = mapped_column(index=True)
    exercise: Mapped[Name]
    about: Mapped[Name]
    first: Mapped[str]
    second: Mapped[str]
    learner_id: Mapped[Author | None]
    began_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class ComparisonDraw(Base):
    """The wording that was drawn for a learner, 0 or 1 (*arm*), and when they first saw it."""

    comparison_id: Mapped[int] = mapped_column(ForeignKey("comparison.id", ondelete="CASCADE"), primary_key=True)
    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True, index=True)
    arm: Mapped[int]
    shown_at: Mapped[datetime]


class Clock(Base):
    """Time that a *job* read from the clock last, and until when the clock is not trusted after a jump."""

    job: Mapped[str] = mapped_column(String(20), primary_key=True)
    seen_at: Mapped[datetime]
    doubted_until: Mapped[datetime | None]


class Assignment(Base):
    """A lesson, or the exercises of it in the list *exercises_json*, to be done by a class for *points*.

    What is solved after *due_at* counts *late_share* until *late_until*, and nothing after that. Solutions stay closed
    until *solutions_at*. *heading* is what it is called in the gradebook, for good; *known_exercises_json* lists those
    that the lesson had when it was assigned, which count where the course has lost it. *resource_id* is what links of
    learning platforms to it lead to, whatever its exercises are by now; None without such a link.
    """

    id: Mapped[Key]
    class_id: Mapped[ClassId] = mapped_column(index=True)
    lesson: Mapped[Name]
    exercises_json: Mapped[str | None]
    opens_at: Mapped[datetime | None]
    due_at: Mapped[datetime | None]
    late_until: Mapped[datetime | None]
    late_share: Mapped[float]
    points: Mapped[float]
    solutions_at: Mapped[datetime | None]
    heading: Mapped[Name | None]
    known_exercises_json: Mapped[str | None]
    resource_id: Mapped[str | None]


class Extension(Base):
    """More time for one learner, instead of the assignment's own."""

    assignment_id: Mapped[AssignmentId] = mapped_column(primary_key=True)
    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True, index=True)
    due_at: Mapped[datetime]
    late_until: Mapped[datetime | None]
    reason: Mapped[str]
    set_by: Mapped[Author | None]
    set_at: Mapped[datetime]


class Accommodation(Base):
    """Days that one learner has more for everything that is due in a class."""

    class_id: Mapped[ClassId] = mapped_column(primary_key=True)
    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True, index=True)
    extra_days: Mapped[int]


class GradeOverride(Base):
    """The only grade that is set by hand: *points*, or None for an assignment that does not count."""

    assignment_id: Mapped[AssignmentId] = mapped_column(primary_key=True)
    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True, index=True)
    points: Mapped[float | None]
    reason: Mapped[str]
    set_by: Mapped[Author | None]
    set_at: Mapped[datetime]


class Sitting(Base):
    """A quiet sitting: the assignment whose items are drawn for each learner and written within so many *minutes*.

    *slots_json* says what is drawn; *secret* is what the draws of its learners follow from. *shows* is `nothing`, or
    `right` where a learner may ask whether an item is right. Its programs were there at *drawn_at*, and *drawing_fault*
    says why some are missing. What came of it is shown from *released_at* on, when its window had ended for all.
    """

    assignment_id: Mapped[AssignmentId] = mapped_column(primary_key=True)
    minutes: Mapped[int]
    slots_json: Mapped[str]
    secret: Mapped[str] = mapped_column(String(64))
    shows: Mapped[str] = mapped_column(String(10))
    drawn_at: Mapped[datetime | None]
    drawing_fault: Mapped[str] = mapped_column(default="", server_default="")
    released_at: Mapped[datetime | None]


class SittingProgram(Base):
    """One of the programs that *item* of a sitting is drawn from, all of one level and as hard, as JSON."""

    __table_args__ = (UniqueConstraint("assignment_id", "item", "seed"),)

    id: Mapped[Key]
    assignment_id: Mapped[AssignmentId]
    item: Mapped[int]
    seed: Mapped[int]
    program_json: Mapped[str]


class SittingRecord(Base):
    """One learner at a sitting: what time they have, and when they began and handed in.

    Beside the minutes of all they have *extra_percent* of these and *extra_minutes*, or a window of their own, from
    *opens_at* to *until*. *draw_json* names their programs and sizes. It goes on in the session *token_hash*, on
    *device*; of the *switches_allowed* they have used *switches*. *handed_in_by* is `learner` or `clock`. Until
    *leased_until* a server grades it.
    """

    assignment_id: Mapped[AssignmentId] = mapped_column(primary_key=True)
    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True, index=True)
    extra_percent: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    extra_minutes: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    opens_at: Mapped[datetime | None]
    until: Mapped[datetime | None]
    begun_at: Mapped[datetime | None]
    draw_json: Mapped[str | None]
    token_hash: Mapped[str | None] = mapped_column(String(64))
    device: Mapped[Name | None]
    switched_at: Mapped[datetime | None]
    switches: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    switches_allowed: Mapped[int] = mapped_column(default=1, server_default=text("1"))
    handed_in_at: Mapped[datetime | None]
    handed_in_by: Mapped[str | None] = mapped_column(String(10))
    graded_at: Mapped[datetime | None]
    leased_until: Mapped[datetime | None]


class SittingAnswer(Base):
    """Submission of one learner for one *item*, and the verdict on it; *code* is its first diagnosis."""

    assignment_id: Mapped[AssignmentId] = mapped_column(primary_key=True)
    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True, index=True)
    item: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]
    verdict_json: Mapped[str | None]
    correct: Mapped[bool]
    code: Mapped[Name | None]


class AuditEvent(Base):
    """Audit event of a class or an account: *verb*, *subject*, with data; no submissions, no secrets."""

    __table_args__ = (Index(None, "class_id", "verb", "recorded_at"),)

    id: Mapped[Key]
    recorded_at: Mapped[datetime] = mapped_column(index=True)
    class_id: Mapped[ClassId | None]
    actor: Mapped[Author | None] = mapped_column(index=True)
    verb: Mapped[str] = mapped_column(String(40))
    subject: Mapped[str]
    data_json: Mapped[str]


class PracticeItem(Base):
    """A practice item, generated and proved: the same for every learner, as the generator's *version* made it.

    *form* is how it is asked (`write`, `fade`, ...) and *fragment* the lesson text that asks it; *wanted* is the slip
    that it was drawn for, empty for none. Lists of names: the operations that it was drawn from (*within_json*, empty
    for all), those that it has, and the one behind each line of the solution (*line_operations_json*).
    """

    __table_args__ = (
        UniqueConstraint("version", "level", "seed", "wanted", "within_json", "form"),
        Index(None, "level", "wanted"),
    )

    id: Mapped[Key]
    version: Mapped[int]
    level: Mapped[int]
    seed: Mapped[int]
    wanted: Mapped[Name]
    within_json: Mapped[str]
    form: Mapped[str] = mapped_column(String(20))
    fragment: Mapped[str]
    forward: Mapped[str]
    solution: Mapped[str]
    operations_json: Mapped[str]
    line_operations_json: Mapped[str]
    points: Mapped[float]
    proved_at: Mapped[datetime]


class ServedItem(Base):
    """An item that was given to a learner, for the card of *family* and *slip*; at most once.

    Its texts and verdicts are attempts at the lesson `practice/<item>`. *code* is the first slip that was made at it,
    *seconds* how long it took, *hints* how many were open when it was done. At *left_at* the learner went past it.
    *purpose* is the occasion that it was drawn for (see `app.practice.occasions`), empty for practice; *right_at_once*
    tells whether the first answer was right, without a hint, once that is known.
    """

    __table_args__ = (UniqueConstraint("learner_id", "item_id"), Index(None, "learner_id", "given_at"))

    id: Mapped[Key]
    learner_id: Mapped[LearnerId]
    item_id: Mapped[int] = mapped_column(ForeignKey("practice_item.id", ondelete="CASCADE"), index=True)
    family: Mapped[str] = mapped_column(String(40))
    slip: Mapped[Name]
    given_at: Mapped[datetime]
    done_at: Mapped[datetime | None]
    left_at: Mapped[datetime | None]
    code: Mapped[Name | None]
    seconds: Mapped[int | None]
    hints: Mapped[int]
    purpose: Mapped[Name] = mapped_column(server_default="", default="")
    right_at_once: Mapped[bool | None]


class Card(Base):
    """Card for spaced repetition, due at *due_at*: a *slip* at a *family* of operations, or the family itself ("").

    *state_json* is the memory of it as `fsrs` writes it; *met* counts its reviews.
    """

    __table_args__ = (UniqueConstraint("learner_id", "family", "slip"),)

    id: Mapped[Key]
    learner_id: Mapped[LearnerId]
    family: Mapped[str] = mapped_column(String(40))
    slip: Mapped[Name]
    state_json: Mapped[str]
    met: Mapped[int]
    due_at: Mapped[datetime]
    opened_at: Mapped[datetime]


class Review(Base):
    """That a card was met again: 1 for the slip, 2 for a solution with help, 3 for one without."""

    id: Mapped[Key]
    card_id: Mapped[int] = mapped_column(ForeignKey("card.id", ondelete="CASCADE"), index=True)
    item_id: Mapped[int | None] = mapped_column(ForeignKey("practice_item.id", ondelete="SET NULL"), index=True)
    rating: Mapped[int]
    reviewed_at: Mapped[datetime]


class PracticeSession(Base):
    """Practice session of a learner since *began_at*; slips of attempts up to *seen_attempt_id* have their cards."""

    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True)
    began_at: Mapped[datetime]
    plan_json: Mapped[str]
    seen_attempt_id: Mapped[int]


class Drill(Base):
    """The most items of one family that a learner solved within the time of a drill."""

    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True)
    family: Mapped[str] = mapped_column(String(40), primary_key=True)
    best: Mapped[int]
    reached_at: Mapped[datetime]


class LtiPlatform(Base):
    """A learning platform that opens pages here: Backhand is its tool *client_id*, called *name* on pages.

    *audience* is what a request for a token names, where that is not *token_url*. It has pages at *origins* too, which
    none of its addresses tell. Where it is *private*, its addresses may be in a network that is not public. *family* is
    what it said it is, such as `moodle`; "" before it said so.
    """

    __table_args__ = (UniqueConstraint("issuer", "client_id"),)

    id: Mapped[Key]
    issuer: Mapped[str]
    client_id: Mapped[str]
    name: Mapped[Name]
    auth_url: Mapped[str]
    token_url: Mapped[str]
    jwks_url: Mapped[str]
    audience: Mapped[str | None]
    origins: Mapped[str] = mapped_column(default="", server_default="")
    private: Mapped[bool] = mapped_column(default=False, server_default=false())
    family: Mapped[str] = mapped_column(default="", server_default="")
    added_at: Mapped[datetime]


class LtiDeployment(Base):
    """A place of a platform in which the tool is installed, by the platform's id."""

    platform_id: Mapped[PlatformId] = mapped_column(primary_key=True)
    deployment_id: Mapped[str] = mapped_column(primary_key=True)


class LtiKey(Base):
    """A key that messages to platforms are signed with; *private* is encrypted, *public_json* is shown to them."""

    kid: Mapped[str] = mapped_column(String(64), primary_key=True)
    private: Mapped[str]
    public_json: Mapped[str]
    made_at: Mapped[datetime]


class LtiContext(Base):
    """A course of a platform, and the class that its people are in here; several may share a class.

    *title* is the platform's; *lineitems_url* and *memberships_url* are where its grades and people are. The latter
    were read at *roster_read_at*, None where they are to be read at once; *roster_answer* is what the platform said
    against it. The former are listed under the scope *lineitems_scope*.
    """

    __table_args__ = (UniqueConstraint("platform_id", "context_id"),)

    id: Mapped[Key]
    platform_id: Mapped[PlatformId]
    context_id: Mapped[str]
    class_id: Mapped[ClassId] = mapped_column(index=True)
    title: Mapped[Name]
    lineitems_url: Mapped[str | None]
    lineitems_scope: Mapped[str | None]
    memberships_url: Mapped[str | None]
    roster_read_at: Mapped[datetime | None]
    roster_answer: Mapped[str | None]
    launched_at: Mapped[datetime]


class LtiMember(Base):
    """A person of a course of a platform, who is *subject* there, with the role of their newest launch.

    *expected_id* is what the platform calls them too, where the class expects a person with that id.
    """

    lti_context_id: Mapped[ContextId] = mapped_column(primary_key=True)
    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True, index=True)
    subject: Mapped[str]
    role: Mapped[str] = mapped_column(String(10))
    launched_at: Mapped[datetime]
    expected_id: Mapped[Name | None]


class LtiLineItem(Base):
    """The column of a platform's gradebook that the grades of an assignment go to, at *url*; "" until it is found.

    It is looked for at *seek_at*, if ever, after *seek_tries* that failed: of the link *resource_link_id*, or made
    where there is none and *creates* allows it. *answer* is what came of it, where an instructor should know.
    """

    __table_args__ = (UniqueConstraint("lti_context_id", "assignment_id"),)

    id: Mapped[Key]
    lti_context_id: Mapped[ContextId]
    assignment_id: Mapped[AssignmentId] = mapped_column(index=True)
    url: Mapped[str]
    resource_link_id: Mapped[str | None]
    creates: Mapped[bool] = mapped_column(default=False, server_default=false())
    seek_at: Mapped[datetime | None]
    seek_tries: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    answer: Mapped[str | None]


class LtiScore(Base):
    """A grade that a platform has yet to be told: what it is then, is computed when it is sent.

    It changed first at *began_at* and last at *changed_at*, and is sent at *due_at*, after *tries* that failed since
    *failing_since*. Until
    *leased_until* a server is at it. One that was given up at *refused_at* waits for an instructor; *answer* is what
    the platform said last.
    """

    line_item_id: Mapped[int] = mapped_column(ForeignKey("lti_line_item.id", ondelete="CASCADE"), primary_key=True)
    learner_id: Mapped[LearnerId] = mapped_column(primary_key=True, index=True)
    began_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    due_at: Mapped[datetime] = mapped_column(index=True)
    tries: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    failing_since: Mapped[datetime | None]
    leased_until: Mapped[datetime | None]
    refused_at: Mapped[datetime | None]
    answer: Mapped[str | None]
