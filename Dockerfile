# Scripts and styles are built with Node and leave it behind; the server runs as an unprivileged user.
FROM node:24-bookworm-slim AS assets
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY static static
RUN npm run build

FROM python:3.11-slim-bookworm
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /srv/backhand
COPY pyproject.toml constraints.txt README.md LICENSE ./
# The index of CPU builds that torch's installation page names; the default one may bring gigabytes for graphics cards.
ARG TORCH_INDEX=""
RUN pip install torch==2.13.0 ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} -c constraints.txt
COPY app app
RUN pip install --editable '.[postgres,nats]' -c constraints.txt
COPY lessons lessons
COPY templates templates
COPY static static
COPY --from=assets /build/static/dist static/dist
# pg_dump refuses a server that is newer than itself, and Debian's is older than the databases that people have.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates postgresql-common && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y && apt-get install --yes --no-install-recommends postgresql-client-17 && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --home-dir /nonexistent backhand && install -d -o backhand -m 0700 /var/lib/backhand /backups
USER backhand
ENV BACKHAND_DATA_DIR=/var/lib/backhand
VOLUME /var/lib/backhand
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
CMD ["backhand", "serve", "--host", "0.0.0.0"]
