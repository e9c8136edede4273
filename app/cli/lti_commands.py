"""`backhand lti …` as it is called: its arguments and its help."""

from typing import Annotated

import typer

platforms = typer.Typer(help="Learning platforms that open pages here (LTI 1.3).", no_args_is_help=True)

Number = Annotated[int, typer.Argument(help="The number of the platform; `backhand lti list` tells it.", min=1)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@platforms.command()
def add(
    issuer: Annotated[str, typer.Option(help="Who the platform says it is, such as https://moodle.example.org.")],
    client_id: Annotated[str, typer.Option("--client-id", help="What it calls this tool.")],
    auth: Annotated[str, typer.Option(help="Its address for authentication requests.")],
    token: Annotated[str, typer.Option(help="Its address for access tokens.")],
    jwks: Annotated[str, typer.Option(help="The address of its public keys.")],
    deployment: Annotated[list[str] | None, typer.Option(help="A deployment id; may be given several times.")] = None,
    name: Annotated[str, typer.Option(help="What people call it; default: its host.")] = "",
    origin: Annotated[
        list[str] | None,
        typer.Option(help="Another origin of its pages and services, such as https://school.instructure.com."),
    ] = None,
    audience: Annotated[str, typer.Option(help="What requests for tokens name; default: the address for them.")] = "",
    private: Annotated[bool, typer.Option("--private", help="Its addresses may be in a private network.")] = False,
    as_json: AsJson = False,
) -> None:
    """Register a platform, by what its administrator reads there."""
    from app.cli import lti

    lti.add(
        issuer,
        client_id,
        {"auth": auth, "token": token, "jwks": jwks},
        deployment or [],
        name=name,
        origins=origin or [],
        audience=audience,
        private=private,
        as_json=as_json,
    )


@platforms.command()
def change(
    number: Number,
    auth: Annotated[str, typer.Option(help="Its address for authentication requests.")] = "",
    token: Annotated[str, typer.Option(help="Its address for access tokens.")] = "",
    jwks: Annotated[str, typer.Option(help="The address of its public keys.")] = "",
    name: Annotated[str, typer.Option(help="What people call it.")] = "",
    origin: Annotated[
        list[str] | None, typer.Option(help="One more origin of its pages and services; may be given several times.")
    ] = None,
    drop_origin: Annotated[
        list[str] | None, typer.Option("--drop-origin", help="An origin that is its own no more; several are possible.")
    ] = None,
    audience: Annotated[str, typer.Option(help="What requests for tokens name.")] = "",
    private: Annotated[
        bool | None, typer.Option("--private/--public", help="Whether its addresses may be in a private network.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change what is known of a platform; its courses, people and grades stay as they are."""
    from app.cli import lti

    addresses = {option: url for option, url in (("auth", auth), ("token", token), ("jwks", jwks)) if url}
    lti.change(
        number,
        addresses,
        name=name,
        origins=origin or [],
        dropped=drop_origin or [],
        audience=audience,
        private=private,
        as_json=as_json,
    )


@platforms.command()
def ticket(
    private: Annotated[bool, typer.Option("--private", help="Its addresses may be in a private network.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print an address with which a platform registers itself: once, within an hour."""
    from app.cli import lti

    lti.ticket(private=private, as_json=as_json)


@platforms.command("list")
def list_(as_json: AsJson = False) -> None:
    """Print every platform, with its deployments and addresses, and what its administrator enters there."""
    from app.cli import lti

    lti.list_(as_json=as_json)


@platforms.command()
def deployment(
    number: Number,
    id_: Annotated[str, typer.Argument(metavar="ID", help="What the platform calls the place of installation.")],
    drop: Annotated[bool, typer.Option("--drop", help="Accept it no more.")] = False,
    as_json: AsJson = False,
) -> None:
    """Accept one more deployment of a platform, or one less."""
    from app.cli import lti

    lti.deployment(number, id_, drop=drop, as_json=as_json)


@platforms.command()
def courses(as_json: AsJson = False) -> None:
    """Print every course that has a class."""
    from app.cli import lti_courses

    lti_courses.list_(as_json=as_json)


@platforms.command()
def course(
    number: Number,
    id_: Annotated[
        str, typer.Argument(metavar="COURSE", help="What the platform calls the course; `backhand lti courses`.")
    ],
    group: Annotated[int, typer.Option("--class", help="The number of the class; `backhand class list`.", min=1)],
    as_json: AsJson = False,
) -> None:
    """Let a course lead to a class that is there: beside another course, or again after `remove`."""
    from app.cli import lti_courses

    lti_courses.tie(number, id_, group, as_json=as_json)


@platforms.command()
def remove(
    number: Number,
    sure: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a platform, and which class is whose course; `course` ties them again."""
    from app.cli import lti

    lti.remove(number, sure=sure, as_json=as_json)


@platforms.command("try")
def try_(number: Number, as_json: AsJson = False) -> None:
    """Try what launches and grades need of a platform: its keys, its clock, a token."""
    from app.cli import lti

    lti.try_(number, as_json=as_json)


@platforms.command()
def rotate(
    anew: Annotated[
        bool,
        typer.Option("--anew", help="Forget the old keys at once: where their secret is lost, or known to others."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Sign with the next key from now on, and show platforms a newer one."""
    from app.cli import lti

    lti.rotate(revoke=anew, as_json=as_json)
