#!/usr/bin/env bash
# Finds what the tests start beside the server: a browser, which they need, and two kinds of containers, PostgreSQL, NATS,
# nginx and Caddy, which they can do without (a skipped test says so). On Debian as root it installs what is missing.
# With `prove`, two whole browsers too, for pages in frames where cookies of other sites are blocked.
set -euo pipefail

has() { command -v "$1" >/dev/null 2>&1; }

has_browser() {
    for name in "${CHROME:-}" chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable chrome; do
        if [ -n "$name" ] && has "$name"; then return 0; fi
    done
    return 1
}

missing=()
has_browser || missing+=(chromium-headless-shell)
has bwrap || missing+=(bubblewrap)
has runc || missing+=(runc)
has nats-server || missing+=(nats-server)
has nginx || [ -x /usr/sbin/nginx ] || missing+=(nginx-light)
has caddy || missing+=(caddy)
has initdb || compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || missing+=(postgresql)

if [ "${1:-}" = prove ]; then
    has chromium || has google-chrome || missing+=(chromium)
    has firefox-esr || has firefox || missing+=(firefox-esr)
fi

if [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && has apt-get; then
    echo "Installing Debian's ${missing[*]}."
    export DEBIAN_FRONTEND=noninteractive
    # The tests make a cluster of their own; the package need not start one.
    settings=/etc/postgresql-common/createcluster.conf
    if [ ! -e "$settings" ]; then
        mkdir -p "${settings%/*}"
        echo "create_main_cluster = false" >"$settings"
    fi
    # The tests start all of it themselves; no package need start a service.
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap 'rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
    fi
    apt-get update --quiet=2
    apt-get install --yes --quiet=2 --no-install-recommends "${missing[@]}" >/dev/null
fi
if ! has_browser; then
    echo "The browser tests need Chrome or Chromium. Install one (Debian: apt-get install chromium-headless-shell; Fedora: dnf install chromium;" >&2
    echo "macOS: Google Chrome), or set CHROME to its path, then run make test again." >&2
    exit 1
fi
