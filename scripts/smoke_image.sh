#!/usr/bin/env bash
# Try a built image as it is deployed: as user 10001, its root read-only, without capabilities.
#
#   scripts/smoke_image.sh docker|podman|buildah NAME [RECORD.json]
#
# Runs scripts/smoke.py inside it, which starts the server and asks for a translation, its alignment, health and
# metrics; then tells the size of the image's files.
set -euo pipefail
cd "$(dirname "$0")/.."
builder=$1 name=$2 record=${3:-/dev/stdout}

tell() { # BYTES
    printf '{"command": "scripts/smoke_image.sh %s %s", "commit": "%s", "date": "%s", "bytes": %s, "tried": "passed"}\n' \
        "$builder" "$name" "$(git describe --always --dirty --exclude '*')" "$(date --utc +%FT%TZ)" "$1" >"$record"
}
if [[ "$builder" != buildah ]]; then
    "$builder" run --rm --interactive --read-only --tmpfs /tmp --tmpfs /data:uid=10001,gid=10001 --cap-drop ALL \
        --security-opt no-new-privileges --network none --entrypoint python3 "$name" - <scripts/smoke.py
    tell "$("$builder" image inspect --format '{{.Size}}' "$name")"
    exit
fi
export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs}
container=$(buildah from --pull=never "$name")
trap 'buildah rm "$container" >/dev/null' EXIT
root=$(buildah mount "$container")
buildah inspect --type image "$name" | grep --quiet 'health/live' || { echo "the image has no HEALTHCHECK" >&2; exit 1; }
# A mount namespace of its own: the root is remounted read-only, and only /tmp, /data and /proc are laid over it.
unshare --mount --net --pid --fork bash -euo pipefail -s "$root" <<'INSIDE'
ip link set lo up
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
for folder in tmp data; do mount -t tmpfs -o mode=1777 tmpfs "$1/$folder"; done
mount --bind /dev "$1/dev"
install -m 644 scripts/smoke.py "$1/tmp/smoke.py"
mount -o remount,bind,ro "$1"
chroot "$1" setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs --bounding-set -all --inh-caps -all \
    env --ignore-environment PATH=/opt/passerelle/bin:/usr/bin:/bin HOME=/tmp MPLCONFIGDIR=/tmp/matplotlib \
    PASSERELLE_DATA_DIR=/data PYTHONDONTWRITEBYTECODE=1 python3 /tmp/smoke.py
INSIDE
tell "$(du --summarize --bytes "$root" | cut -f1)"
