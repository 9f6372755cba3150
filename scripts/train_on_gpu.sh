#!/bin/sh
# One sitting on a rented GPU: put the corpus together, train until MINUTES of the whole run are over, pack the model.
#
#     scripts/train_on_gpu.sh PIECES OUT MINUTES [--set key=value ...]
#
# PIECES: a folder that `nmt pack` wrote. OUT: gets the best model so far in pieces of at most 15 MiB, and the log.
# WORK (environment): a folder of the machine's own, kept between sittings; the next sitting resumes from it.
set -eu
pieces=$1 out=$2 minutes=$3
shift 3
work=${WORK:-/tmp/passerelle}
mkdir -p "$work"
[ -d "$work/data" ] || python3 -m nmt unpack "$pieces" "$work/data"
status=0
python3 -m nmt train general_gpu --data "$work/data" --run "$work/run" --resume \
    --set training.max_minutes="$minutes" "$@" || status=$?
# What there is comes back, also from a run that failed.
rm -rf "$out/model"
[ ! -d "$work/run/model" ] || python3 -m nmt pack "$work/run/model" "$out/model" --piece-mib 15
cp "$work/run/log.jsonl" "$out/log.jsonl"
exit "$status"
