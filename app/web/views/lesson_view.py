"""A lesson with what one learner has done in it, put together for the page."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.content.blocks import (
    Axes,
    Block,
    Bug,
    Callout,
    Checker,
    Choice,
    CodeBox,
    Forward,
    FunctionBox,
    Grad,
    Lesson,
    Matmul,
    Number,
    Order,
    Prose,
    Quiz,
    Train,
    Visual,
)
from app.content.blocks import Shape as ShapeQuiz
from app.grading.forward.facts import Shape
from app.store.progress import LessonState
from app.web.site import Site
from app.web.views.exercise_view import CodeView, QuizView, code_view, quiz_view
from app.web.views.names_view import NamesView, names_view
from app.web.views.training_view import TrainView, train_view

TEMPLATES: Mapping[type, str] = {
    Prose: "_prose.html",
    Callout: "_callout.html",
    Forward: "_forward.html",
    ShapeQuiz: "_shape.html",
    Number: "_number.html",
    Choice: "_choice.html",
    Axes: "_axes.html",
    Matmul: "_matmul.html",
    Order: "_order.html",
    Grad: "_grad.html",
    Bug: "_bug.html",
    Checker: "_checker.html",
    FunctionBox: "_function.html",
    Train: "_train.html",
    Visual: "_visual.html",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One block of the page: the template that shows it, and the learner's side of it where it is an exercise."""

    template: str
    block: Block
    view: QuizView | CodeView | TrainView | NamesView | None = None
    shapes: Mapping[str, Shape] | None = None
    forward: Forward | None = None


async def items_of(site: Site, lesson: Lesson, state: LessonState, learner: int | None) -> list[Item]:
    return [await _item(site, lesson, block, state, learner) for block in lesson.blocks]


async def _item(site: Site, lesson: Lesson, block: Block, state: LessonState, learner: int | None) -> Item:
    template = TEMPLATES[type(block)]
    if isinstance(block, CodeBox):
        scope, shapes = site.scope(lesson, block), site.shapes.known(lesson, block)
        return Item(template=template, block=block, view=code_view(site.kept, lesson, block, state, scope, shapes))
    if isinstance(block, Quiz):
        shapes = await site.shapes.about(lesson, block)
        return Item(template=template, block=block, view=quiz_view(site.kept, lesson, block, state, shapes))
    if isinstance(block, Train):
        return Item(template=template, block=block, view=await train_view(site, lesson, block, state, learner))
    if isinstance(block, Forward):
        return Item(template=template, block=block, shapes=site.shapes.inferred(block))
    if isinstance(block, Visual) and block.kind == "names":
        return Item(template="_visual_names.html", block=block, view=await names_view(site.runs.names))
    if isinstance(block, Visual):
        forward = lesson.forwards.get(block.forward) if block.forward else None
        return Item(template=template, block=block, shapes=await site.shapes.of(forward), forward=forward)
    return Item(template=template, block=block)
