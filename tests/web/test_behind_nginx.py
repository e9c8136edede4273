"""The lines for nginx in docs/operating.md, as they are told there: a site below a path, kept or taken away."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from app.content.blocks import Course
from app.settings import Settings
from app.web.application import create_app
from benchmarks.serving import free_port
from tests.browser.authoring import serving
from tests.waiting import until
from tests.web.conftest import BROWSER, FakeGrader

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operating.md"
WHOLE = """\
daemon off; pid nginx.pid; error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
    server {{ listen 127.0.0.1:{port};
{lines}
    }}
}}
"""


@pytest.fixture(params=["kept", "taken away"])
def proxied(request: pytest.FixtureRequest, tmp_path: Path, course: Course) -> Iterator[str]:
    """The address of the site at an nginx in front of it."""
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    if nginx is None:
        pytest.skip("nginx is not installed (Debian: apt-get install nginx-light)")
    (lines,) = re.findall(r"^```nginx\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    port, settings = free_port(), Settings(data_dir=tmp_path, database_url="", prefix="/learn")
    with serving(lambda: create_app(settings, course, FakeGrader())) as server:
        upstream = server + ("/" if request.param == "taken away" else "")
        told = lines.replace("proxy_pass http://127.0.0.1:8000;", f"proxy_pass {upstream};")
        assert upstream in told
        (tmp_path / "nginx.conf").write_text(WHOLE.format(port=port, lines=told), "utf-8")
        process = subprocess.Popen([nginx, "-p", str(tmp_path), "-c", "nginx.conf", "-e", "stderr"])
        try:
            until(lambda: _is_up(f"http://127.0.0.1:{port}", process))
            yield f"http://127.0.0.1:{port}/learn"
        finally:
            process.terminate()
            process.wait()


def _is_up(address: str, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None
    try:
        return httpx2.get(address).status_code > 0
    except httpx2.TransportError:
        return False


def test_the_lines_for_nginx_serve_the_site_below_a_path(proxied: str) -> None:
    with httpx2.Client(headers=BROWSER, follow_redirects=True) as client:
        home = client.get(f"{proxied}/")
        script = re.search(r'src="(/learn/static/app-[^"]+)"', home.text)
        form = {"answer": "(5,)"}
        answered = client.post(f"{proxied}/lessons/linear/quiz/dw-shape", data=form)
        cookies = [(cookie.name, cookie.path) for cookie in client.cookies.jar]

        assert script
        assert client.get(f"{proxied.removesuffix('/learn')}{script[1]}").status_code == 200
        assert answered.status_code == 200
        assert str(answered.url).startswith(f"{proxied}/lessons/linear")
        assert cookies == [("session", "/learn")]
