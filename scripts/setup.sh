#!/usr/bin/env bash
# Installs what building and testing need, as Debian packages, and only what is missing.
# It asks the network for nothing when nothing is missing. Needs root or sudo only then.
set -euo pipefail

packages=(
  # to build
  g++ cmake ninja-build pkg-config
  # libraries of the engine and of the program
  nlohmann-json3-dev libutf8proc-dev libcli11-dev libfmt-dev libspdlog-dev libyaml-cpp-dev libedit-dev
  libssl-dev
  # to test, measure and check the format
  libgtest-dev libgmock-dev libbenchmark-dev libpcre2-dev zlib1g-dev clang-format-14 python3
)

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this script knows Debian and its relatives only; install by hand: ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: these packages are missing: ${missing[*]}" >&2
    echo "setup: run this as root, or install sudo, or install them by hand" >&2
    exit 1
  fi
  as_root=(sudo)
  # Without a terminal nobody can type a password, so sudo must not wait for one.
  [ -t 0 ] || as_root=(sudo -n)
fi

echo "setup: installing ${missing[*]}" >&2
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >&2
}
apt update || { echo "setup: apt-get update failed: is the network there?" >&2; exit 1; }
apt install -y --no-install-recommends "${missing[@]}" ||
  { echo "setup: could not install: ${missing[*]}" >&2; exit 1; }
