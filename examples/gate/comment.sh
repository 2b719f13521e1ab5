#!/bin/sh
# Posts a Markdown file as the only comment of its kind on a pull request (GitHub) or merge request
# (GitLab), or edits the existing one: the comment that begins with the first line of the file.
# `assay gate` and `assay mutate` write such files with --export comment.md.
#
#   sh comment.sh comment.md github     GITHUB_REPOSITORY=owner/name, PULL_REQUEST=number, GITHUB_TOKEN (may write pull requests)
#   sh comment.sh comment.md gitlab     CI_PROJECT_ID, CI_MERGE_REQUEST_IID, GITLAB_TOKEN (scope api)
#
# The address of the forge is GITHUB_API_URL or CI_API_V4_URL, as set by their runners. Needs curl
# and jq. The token is passed to curl in a private file, since every user of the machine can read
# command lines.
set -eu

file=$1
forge=$2
mark=$(head -n 1 "$file")
case $mark in
    '<!-- assay-gate: '*' -->' | '<!-- assay-mutate -->' | '<!-- assay-check -->') ;;
    *) echo "$file: its first line is no mark; write the file with: assay gate (or mutate) --export $file, or assay check --comment $file" >&2; exit 2 ;;
esac

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
trap 'exit 130' INT TERM
umask 077
case $forge in
    github)
        api=${GITHUB_API_URL:-https://api.github.com}/repos/$GITHUB_REPOSITORY
        list=$api/issues/$PULL_REQUEST/comments
        one=$api/issues/comments
        edit=PATCH
        printf 'Authorization: Bearer %s\nAccept: application/vnd.github+json\n' "$GITHUB_TOKEN" > "$room/headers"
        ;;
    gitlab)
        api=${CI_API_V4_URL:-https://gitlab.com/api/v4}/projects/$CI_PROJECT_ID
        list=$api/merge_requests/$CI_MERGE_REQUEST_IID/notes
        one=$list
        edit=PUT
        printf 'PRIVATE-TOKEN: %s\n' "$GITLAB_TOKEN" > "$room/headers"
        ;;
    *) echo "$forge: github or gitlab" >&2; exit 2 ;;
esac
printf 'Content-Type: application/json\n' >> "$room/headers"

ask() {
    curl --fail --silent --show-error --max-time 60 --retry 2 --header "@$room/headers" "$@"
}

# All pages are searched; the first comment with the mark is used.
page=1
id=
while [ -z "$id" ]; do
    ask "$list?per_page=100&page=$page" > "$room/comments"
    id=$(jq -r --arg mark "$mark" '[.[] | select(.body | startswith($mark)) | .id] | first // empty' "$room/comments")
    [ "$(jq length "$room/comments")" = 100 ] || break
    page=$((page + 1))
done

jq -n --rawfile body "$file" '{body: $body}' > "$room/body"
if [ -n "$id" ]; then
    ask --request "$edit" --data "@$room/body" "$one/$id" > "$room/answer"
    echo "edited comment $id"
else
    ask --request POST --data "@$room/body" "$list" > "$room/answer"
    echo "made comment $(jq -r .id "$room/answer")"
fi
