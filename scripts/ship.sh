#!/usr/bin/env bash
# From a model folder to what ships: weights, a link scorer, calibration, and the scores of all that.
#
#     scripts/ship.sh general runs/general/average [MINUTES]       # MINUTES for the link scorer, 15 if none are given
#
# In the repository's root, where `data` is a folder of the corpora and `runs/links.tsv.xz` has links of theirs
# (python -m benchmarks.alignment_links). Each direction takes one core. What is left to a person: the card, its line of
# the ledger (python -m scripts.training_tables), reading the everyday sentences.
set -euo pipefail

name=$1 model=$2 minutes=${3:-15}
python=${PYTHON:-python}
source=en target=fr reversed=()
if [[ $name == *_fr_en ]]; then
    source=fr target=en reversed=(--reversed)
fi

tests=()
for set in tatoeba/test multi30k/test_2016_flickr multi30k/test_2017_flickr multi30k/test_2017_mscoco flores/devtest news/newstest2014; do
    tests+=(--test "data/$set.$source" "data/$set.$target")
done
former=$(mktemp -d) # with the link scorer that the next one begins with: weights that change little need little more
trap 'rm -r "$former"' EXIT
cp -r "nmt/pretrained/$name/." "$former"
$python -m scripts.ship_model "$model" --name "$name" --card "docs/models/$name.md" --alignment-layer 1

$python -m nmt align-train "$name" --links runs/links.tsv.xz --gold data/alignment/hansards/trial --gold data/alignment/pud/test \
    --init-from "$former" --max-minutes "$minutes" "${reversed[@]}"

pairs=()
mkdir -p runs/cal
for part in tatoeba/dev:700 news/newstest2013:350 multi30k/val:500 software/dev:350; do
    file=${part%:*} set=${file//\//_}
    set=${set#news_}
    for language in en fr; do # in one move: the other direction may read it
        head -n "${part#*:}" "data/$file.$language" > "runs/cal/$set.$language.$name"
        mv "runs/cal/$set.$language.$name" "runs/cal/$set.$language"
    done
    pairs+=(--source "runs/cal/$set.$source" --reference "runs/cal/$set.$target")
done
$python -m nmt calibrate "$name" "${pairs[@]}" --report docs/calibration

gold=data/alignment/hansards/test.gold
if [[ $source == fr ]]; then
    sed -E 's/([0-9]+)([-p])([0-9]+)/\3\2\1/g' "$gold" > runs/cal/hansards_test.gold
    gold=runs/cal/hansards_test.gold
fi
$python -m nmt align --model "$name" --gold "$gold" --source "data/alignment/hansards/test.$source" \
    --target "data/alignment/hansards/test.$target" > /dev/null

$python -m scripts.score_model "$name" "${tests[@]}"

if [[ $name == general ]]; then # beside the attention RNN
    beside=()
    for set in tatoeba/test multi30k/test_2016_flickr flores/devtest news/newstest2014; do
        beside+=(--test "data/$set.en" "data/$set.fr")
    done
    $python -m scripts.baseline_scores general docs/reports/general_beside_rnn/report.json "${beside[@]}"
fi
