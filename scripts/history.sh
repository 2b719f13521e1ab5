#!/bin/sh
# How fast this project's own program was: builds it at each tagged revision, measures it, keeps that in the history (.assay/history.db),
# and writes the pages of it to target/history/site. What is kept already is not measured again.
# Usage: history.sh ASSAY [REVISION...]     without revisions: all tags, or where there are none the last 5 commits
# ASSAY measures; PROFILE names cargo's profile of what is measured [release].
set -eu

cd "$(dirname "$0")/.."
assay=$(realpath "$1")
shift
if [ $# = 0 ]; then
    # shellcheck disable=SC2046 # names of tags and commits have no spaces
    set -- $(git tag --sort=creatordate)
    # shellcheck disable=SC2046
    [ $# != 0 ] || set -- $(git rev-list --reverse --max-count=5 HEAD)
fi
profile=${PROFILE:-release}
work=$(pwd)/target/history
data=$(pwd)/crates/assay/tests/data
mkdir -p .assay "$work"

kept() {
    "$assay" history log -n 0 --json 2>/dev/null | grep -q "\"commit\": \"$1\""
}

for revision in "$@"; do
    commit=$(git rev-parse --verify "$revision^{commit}")
    if kept "$commit"; then
        echo "$revision is kept already"
        continue
    fi
    echo "$revision: building"
    # No worktree: nothing of it stays in the repository, whatever happens.
    rm -rf "$work/source"
    mkdir -p "$work/source"
    git archive "$commit" | tar -x -C "$work/source"
    if ! (cd "$work/source" && CARGO_TARGET_DIR="$work/built" cargo build --quiet --locked --profile "$profile" -p assay); then
        echo "$revision does not build, and is left out" >&2
        continue
    fi
    # The path is the same for all revisions: its length is part of a program's environment.
    case $profile in dev) directory=debug ;; *) directory=$profile ;; esac
    cp "$work/built/$directory/assay" "$work/assay"
    rm -f "$work/run.assay"
    if ! "$assay" run --quiet --runs 30 --save "$work/run.assay" \
        -n start "$work/assay --version" \
        -n compare "$work/assay compare $data/lnorm_a.txt $data/lnorm_b.txt --json" \
        -n describe "$work/assay describe $data/lnorm_a.txt --json" \
        -n run "$work/assay run --runs 5 --no-save --json /bin/true" > "$work/screen.txt"; then
        echo "$revision can't be measured, and is left out" >&2
        continue
    fi
    "$assay" history add --rev "$commit" "$work/run.assay"
done

"$assay" history site "$work/site"
