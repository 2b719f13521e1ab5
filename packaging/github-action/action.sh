#!/bin/sh
# The steps of action.yml. Each reads and writes the runner's files (GITHUB_OUTPUT, GITHUB_PATH,
# GITHUB_STEP_SUMMARY, GITHUB_EVENT_PATH), so that it can be tried without a runner.
#
#   action.sh install   installs the release for this machine
#   action.sh check     runs assay check with ASSAY_ARGS; outputs: status, fork
#   action.sh comment   posts the comment, or edits the one that is there
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
left=$RUNNER_TEMP/assay-check

install() {
    version=${ASSAY_VERSION:-$(sed -n 's/^version = "\(.*\)"/\1/p' "$top/Cargo.toml" | head -n 1)}
    from=${ASSAY_FROM:-${GITHUB_SERVER_URL:-https://github.com}/$ACTION_REPOSITORY/releases/download/v$version}
    case $from in
        /*) cp "$from/install.sh" "$RUNNER_TEMP/install.sh" ;;
        *)
            curl --fail --silent --show-error --location --retry 2 --max-time 300 \
                --output "$RUNNER_TEMP/install.sh" "$from/install.sh"
            ;;
    esac
    # It chooses the program for this machine, and verifies its checksum.
    sh "$RUNNER_TEMP/install.sh" --from "$from" --version "$version" --prefix "$RUNNER_TEMP/assay"
    echo "$RUNNER_TEMP/assay/bin" >>"$GITHUB_PATH"
}

# A member of the event, or nothing.
event() {
    jq -r "$1 // empty" "$GITHUB_EVENT_PATH"
}

check() {
    mkdir -p "$left"
    status=0
    # Options are separated by blanks; they are words, not shell.
    set -f
    # shellcheck disable=SC2086
    assay check --comment "$left/comment.md" $ASSAY_ARGS || status=$?
    set +f
    if [ -f "$left/comment.md" ]; then
        cat "$left/comment.md" >>"$GITHUB_STEP_SUMMARY"
    else
        echo "assay check ended with status $status; the log of the job says why." >>"$GITHUB_STEP_SUMMARY"
    fi
    number=$(event .pull_request.number)
    head=$(event .pull_request.head.repo.full_name)
    # Without a pull request there is nothing to comment on.
    fork=none
    if [ -n "$number" ] && [ -f "$left/comment.md" ]; then
        echo "$number" >"$left/number"
        fork=true
        [ "$head" != "$GITHUB_REPOSITORY" ] || fork=false
    fi
    printf 'status=%s\nfork=%s\n' "$status" "$fork" >>"$GITHUB_OUTPUT"
}

# The number and the comment may come from a fork: neither is trusted.
comment() {
    if ! [ -f "$left/comment.md" ]; then
        echo 'there is no comment to post'
        return
    fi
    number=$(head -c 20 "$left/number" | tr -d '\n')
    case $number in
        '' | *[!0-9]*) echo 'the number of the pull request is no number' >&2 && exit 1 ;;
    esac
    built=$(event .workflow_run.head_sha)
    if [ -n "$built" ]; then
        umask 077
        printf 'Authorization: Bearer %s\n' "$GITHUB_TOKEN" >"$RUNNER_TEMP/assay-headers"
        own=$(curl --fail --silent --show-error --max-time 60 --retry 2 --header "@$RUNNER_TEMP/assay-headers" \
            "${GITHUB_API_URL:-https://api.github.com}/repos/$GITHUB_REPOSITORY/pulls/$number" | jq -r .head.sha)
        rm -f "$RUNNER_TEMP/assay-headers"
        if [ "$own" != "$built" ]; then
            echo "pull request $number is not the one that was measured" >&2
            exit 1
        fi
    fi
    if [ "$(head -n 1 "$left/comment.md")" != '<!-- assay-check -->' ] || [ "$(wc -c <"$left/comment.md")" -gt 65000 ]; then
        echo 'this is no comment of assay check' >&2
        exit 1
    fi
    PULL_REQUEST=$number sh "$top/examples/gate/comment.sh" "$left/comment.md" github
}

case $1 in
    install | check | comment) "$1" ;;
    *) echo "$1: install, check or comment" >&2 && exit 2 ;;
esac
