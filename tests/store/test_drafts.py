import pytest
from sqlalchemy import event

from app.store import drafts
from app.store.database import Database

pytestmark = pytest.mark.anyio

BOX = ("lesson", "box")


async def test_a_draft_is_read_back_as_it_was_saved(database: Database, me: int) -> None:
    text = "dX = dY @ W.T\n\tμ ∂ 🎈\n"
    async with database.write() as db:
        await drafts.save_draft(db, me, *BOX, text)

    async with database.read() as db:
        draft = await drafts.draft_of(db, me, *BOX)
    assert draft is not None
    assert draft.text == text


async def test_each_change_raises_the_revision_and_the_same_text_does_not(database: Database, me: int) -> None:
    async with database.write() as db:
        revisions = [(await drafts.save_draft(db, me, *BOX, text)).draft.revision for text in ("a", "b", "b", "a")]

    assert revisions == [1, 2, 2, 3]


async def test_a_save_on_top_of_the_newest_asks_the_database_once(database: Database, me: int) -> None:
    asked: list[str] = []
    async with database.write() as db:
        await drafts.save_draft(db, me, *BOX, "first", base=0)

    event.listen(database.engine.sync_engine, "before_cursor_execute", lambda *told: asked.append(told[2]))
    async with database.write() as db:
        saved = await drafts.save_draft(db, me, *BOX, "second", base=1)

    assert [one.split()[0] for one in asked if "FOR NO KEY" not in one] == ["UPDATE"]
    assert (saved.draft.text, saved.draft.revision, saved.conflict) == ("second", 2, False)


async def test_on_conflict_both_texts_are_kept(database: Database, me: int) -> None:
    async with database.write() as db:
        await drafts.save_draft(db, me, *BOX, "first", base=0)
        await drafts.save_draft(db, me, *BOX, "from one tab", base=1)
        saved = await drafts.save_draft(db, me, *BOX, "from the other tab", base=1)
        kept = await drafts.kept_texts(db, me, *BOX)

    assert (saved.conflict, saved.other) == (True, 1)
    assert saved.draft.text == "from the other tab"
    assert [(row.text, row.reason) for row in kept] == [("from one tab", "other-tab")]


async def test_an_outdated_save_of_the_same_text_is_no_conflict(database: Database, me: int) -> None:
    async with database.write() as db:
        await drafts.save_draft(db, me, *BOX, "a")
        await drafts.save_draft(db, me, *BOX, "b")
        saved = await drafts.save_draft(db, me, *BOX, "b", base=1)

    assert not saved.conflict


async def test_a_reset_keeps_what_stood_in_the_box(database: Database, me: int) -> None:
    async with database.write() as db:
        saved = await drafts.save_draft(db, me, *BOX, "my work")
        await drafts.replace_draft(db, saved.draft, "starter", "reset")
        kept = await drafts.kept_texts(db, me, *BOX)

    assert saved.draft.text == "starter"
    assert [(row.text, row.reason) for row in kept] == [("my work", "reset")]


async def test_an_empty_text_is_not_worth_keeping(database: Database, me: int) -> None:
    async with database.write() as db:
        saved = await drafts.save_draft(db, me, *BOX, "  \n")
        await drafts.replace_draft(db, saved.draft, "starter", "reset")

        assert await drafts.kept_texts(db, me, *BOX) == []


async def test_the_same_text_is_kept_once_and_the_oldest_go_first(database: Database, me: int) -> None:
    async with database.write() as db:
        saved = await drafts.save_draft(db, me, *BOX, "text 0")
        for number in range(1, drafts.KEPT_TEXTS + 3):
            await drafts.replace_draft(db, saved.draft, f"text {number}", "restore")
        await drafts.replace_draft(db, saved.draft, "text 9", "restore")
        await drafts.replace_draft(db, saved.draft, "end", "restore")
        kept = [row.text for row in await drafts.kept_texts(db, me, *BOX)]

    assert len(kept) == drafts.KEPT_TEXTS
    assert kept.count("text 9") == 1
    assert kept[-1] == "text 9"
    assert "text 0" not in kept
