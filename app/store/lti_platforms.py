"""Learning platforms that are registered, by commands or by themselves with a ticket."""

from collections.abc import Collection, Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.classes import RefusedError, record_event
from app.store.tables import Credential, LtiContext, LtiDeployment, LtiPlatform, Session


async def list_platforms(db: AsyncSession) -> Sequence[LtiPlatform]:
    return (await db.scalars(select(LtiPlatform).order_by(LtiPlatform.id))).all()


async def find_platform(db: AsyncSession, issuer: str, client_id: str) -> LtiPlatform | None:
    """The platform with that *issuer*; without a *client_id* only where one alone has it."""
    query = select(LtiPlatform).where(LtiPlatform.issuer == issuer).limit(2)
    platforms = (await db.scalars(query.where(LtiPlatform.client_id == client_id) if client_id else query)).all()
    return platforms[0] if len(platforms) == 1 else None


async def get_platform(db: AsyncSession, number: int) -> LtiPlatform:
    """
    Raises:
        RefusedError: There is none of that number.
    """
    platform = await db.get(LtiPlatform, number) if 0 < number < 2**31 else None
    if platform is None:
        raise RefusedError(f"There is no platform {number}. `backhand lti list` names them.")
    return platform


async def deployments_of(db: AsyncSession, platform: int) -> frozenset[str]:
    query = select(LtiDeployment.deployment_id).where(LtiDeployment.platform_id == platform)
    return frozenset(await db.scalars(query))


async def add_platform(db: AsyncSession, platform: LtiPlatform, deployments: Collection[str]) -> None:
    """
    Raises:
        RefusedError: It is there already.
    """
    if (known := await find_platform(db, platform.issuer, platform.client_id)) is not None:
        raise RefusedError(
            f"{platform.issuer} with the client id {platform.client_id} is registered already, as platform {known.id}. "
            f"To change it, and keep its courses and grades: backhand lti change {known.id}."
        )
    db.add(platform)
    await db.flush()
    for deployment in deployments:
        await add_deployment(db, platform, deployment)
    await record_event(db, None, None, "platform-added", platform.id, issuer=platform.issuer)


async def add_deployment(db: AsyncSession, platform: LtiPlatform, deployment: str) -> None:
    await db.merge(LtiDeployment(platform_id=platform.id, deployment_id=deployment))


async def drop_deployment(db: AsyncSession, platform: LtiPlatform, deployment: str) -> None:
    """
    Raises:
        RefusedError: It is none of *platform*.
    """
    if deployment not in await deployments_of(db, platform.id):
        raise RefusedError(f"{deployment!r} is no deployment of platform {platform.id}. `backhand lti list` has them.")
    same = (LtiDeployment.platform_id == platform.id, LtiDeployment.deployment_id == deployment)
    await db.execute(delete(LtiDeployment).where(*same))


async def count_courses(db: AsyncSession, platform: int) -> int:
    """Count the courses of a platform that have a class."""
    query = select(func.count()).select_from(LtiContext).where(LtiContext.platform_id == platform)
    return await db.scalar(query) or 0


async def remove_platform(db: AsyncSession, platform: LtiPlatform) -> None:
    """Delete *platform*: it can launch nothing any more. Its people keep their work, its classes stay as they are."""
    others = select(LtiPlatform.id).where(LtiPlatform.issuer == platform.issuer, LtiPlatform.id != platform.id)
    if await db.scalar(others.limit(1)) is None:
        credentials = select(Credential.id).where(Credential.kind == "lti", Credential.issuer == platform.issuer)
        await db.execute(delete(Session).where(Session.credential_id.in_(credentials)))
    await record_event(db, None, None, "platform-removed", platform.id, issuer=platform.issuer)
    await db.execute(delete(LtiPlatform).where(LtiPlatform.id == platform.id))


async def contexts_of(db: AsyncSession, group: int) -> Sequence[tuple[LtiContext, LtiPlatform]]:
    """The courses of platforms whose people are in a class."""
    query = select(LtiContext, LtiPlatform).join(LtiPlatform, LtiPlatform.id == LtiContext.platform_id)
    rows = await db.execute(query.where(LtiContext.class_id == group).order_by(LtiContext.id))
    return [(context, platform) for context, platform in rows]
