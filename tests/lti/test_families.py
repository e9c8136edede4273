"""Help in the words of a family of platforms."""

from app.lti.families import with_help

CERTS = "Moodle has them at /mod/lti/certs.php of its site."


def test_help_follows_a_whole_sentence() -> None:
    assert with_help("It cannot be reached", "moodle", "keys", "https://m.example/keys") == (
        f"It cannot be reached. {CERTS}"
    )
    assert with_help("It cannot be reached", "", "keys") == "It cannot be reached."


def test_an_address_that_is_right_is_not_told_again() -> None:
    assert with_help("They answer 404.", "moodle", "keys", "https://m.example/mod/lti/certs.php") == "They answer 404."
