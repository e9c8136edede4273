#!/usr/bin/env bash
# Finds a Chrome or Chromium for the browser tests; on Debian as root it installs one.
set -euo pipefail
for name in "${CHROME:-}" chromium chromium-browser google-chrome google-chrome-stable chrome; do
    if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then
        exit 0
    fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "No Chromium found: installing Debian's."
    export DEBIAN_FRONTEND=noninteractive
    apt-get update --quiet=2
    apt-get install --yes --quiet=2 --no-install-recommends chromium >/dev/null
    exit 0
fi
echo "The browser tests need Chrome or Chromium. Install one (Debian: apt-get install chromium; Fedora: dnf install chromium;" >&2
echo "macOS: Google Chrome), or set CHROME to its path, then run make test again." >&2
exit 1
