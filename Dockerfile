# Scripts and styles are built with Node, the wheel of them and the course; the server has neither, and runs as a user
# without rights. To build the very same again, give the images by digest: docs/operating.md.
ARG NODE_IMAGE=node:24-bookworm-slim
ARG PYTHON_IMAGE=python:3.11-slim-bookworm

FROM ${NODE_IMAGE} AS assets
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY static static
COPY app/kinds app/kinds
RUN npm run build

FROM ${PYTHON_IMAGE} AS wheel
WORKDIR /build
COPY constraints.txt ./
RUN pip install --no-cache-dir hatchling -c constraints.txt
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY app app
COPY lessons lessons
COPY templates templates
COPY static static
COPY --from=assets /build/static/dist static/dist
RUN python -m hatchling build --target wheel --directory /dist

FROM ${PYTHON_IMAGE}
ARG VERSION=""
LABEL org.opencontainers.image.title="Backhand" org.opencontainers.image.description="Interactive lessons on the backward pass" org.opencontainers.image.licenses="MIT" org.opencontainers.image.version="${VERSION}"
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /srv/backhand
# pg_dump refuses a server that is newer than itself, and Debian's is older than the databases that people have.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates postgresql-common && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y && apt-get install --yes --no-install-recommends postgresql-client-17 && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --home-dir /nonexistent backhand && install -d -o backhand -m 0700 /var/lib/backhand /backups
# All packages but torch by hash: torch comes from one of several indexes, each with files of its own.
COPY deploy/requirements.txt constraints.txt ./
RUN pip install --no-deps --require-hashes -r requirements.txt
# The index of CPU builds that torch's installation page names; the default one may bring gigabytes for graphics cards.
ARG TORCH_INDEX=""
# Its headers and its own tests are 200 MB, of use to those alone who build on it.
RUN pip install torch==2.13.0 ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} -c constraints.txt && cd "$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch" && rm -rf include test && find bin -type f ! -name torch_shm_manager -delete
COPY --from=wheel /dist dist
# packages.json is the bill of materials: each package with its version, licence and origin.
RUN pip install --no-deps dist/*.whl && rm -r dist requirements.txt constraints.txt && pip check && pip inspect > packages.json
USER backhand
ENV BACKHAND_DATA_DIR=/var/lib/backhand
VOLUME /var/lib/backhand
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
CMD ["backhand", "serve", "--host", "0.0.0.0"]
