#!/usr/bin/env bash
# Build the image, try it, and say how large it is: scripts/build_image.sh [NAME]
#
#   TORCH_INDEX=URL     index of torch's CPU builds (PyTorch's own); not needed where wheels/ holds the file
#   VARIANT=cuda        torch with CUDA, from the default index
#   BASE=IMAGE          another base than python:3.11-slim-bookworm
#   BUILDER=docker      or podman, buildah; by default the first of them that is installed
#   BUILD_ARGS="..."    more arguments for the builder
#   SMOKE=no            build only
set -euo pipefail
cd "$(dirname "$0")/.."
name=${1:-passerelle}
builder=${BUILDER:-}
if [[ -z "$builder" ]]; then
    for candidate in docker podman buildah; do
        if command -v "$candidate" >/dev/null; then builder=$candidate && break; fi
    done
fi
[[ -n "$builder" ]] || { echo "none of docker, podman and buildah is installed" >&2; exit 1; }

arguments=(--tag "$name" --file Dockerfile)
for argument in TORCH_INDEX VARIANT BASE; do
    if [[ -n "${!argument:-}" ]]; then arguments+=(--build-arg "$argument=${!argument}"); fi
done
# shellcheck disable=SC2206  # split on purpose
arguments+=(${BUILD_ARGS:-} .)

if [[ "$builder" == buildah ]]; then # needs neither a daemon nor root's mounts: STORAGE_DRIVER=vfs, chroot
    export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs}
    buildah bud --format docker --isolation "${BUILDAH_ISOLATION:-chroot}" "${arguments[@]}" # docker: HEALTHCHECK is kept
else
    "$builder" build "${arguments[@]}"
fi
[[ "${SMOKE:-yes}" == no ]] || scripts/smoke_image.sh "$builder" "$name"
