"""How long each page takes through HTTP, and how much it weighs compressed, with and without the editor."""

import gzip
import json
import statistics
import time

from app.course.course import load_course
from benchmarks.serving import ROOT, Learner, server

ROUNDS = 50


def main() -> None:
    """Print p50 and p95 of every page and the weight of the assets."""
    course = load_course(ROOT / "lessons")
    with server() as port:
        learner = Learner(port)
        for path in ("/", *(f"/lessons/{lesson.slug}" for lesson in course.lessons if not lesson.draft)):
            seconds, body = [], ""
            for _ in range(ROUNDS):
                began = time.perf_counter()
                status, body = learner.get(path)
                seconds.append(time.perf_counter() - began)
                assert status == 200, (path, status)
            p95 = statistics.quantiles(seconds, n=20)[-1]
            weight = len(gzip.compress(body.encode()))
            print(f"{path}: p50 {statistics.median(seconds) * 1e3:.1f} ms, p95 {p95 * 1e3:.1f} ms, "
                  f"{weight / 1000:.1f} kB compressed")  # fmt: skip
    dist = ROOT / "static/dist"
    for name, file in json.loads((dist / "manifest.json").read_text()).items():
        if isinstance(file, str) and (dist / file).is_file():
            print(f"{name}: {len(gzip.compress((dist / file).read_bytes())) / 1000:.1f} kB compressed")


if __name__ == "__main__":
    main()
