#!/bin/sh
# Checks whether `assay mutate --coupling` classifies each of these projects as intended.
set -u
here=$(cd "$(dirname "$0")" && pwd)
assay=$(command -v "${1:-assay}") || { echo "no assay: give its path" >&2; exit 2; }
case $assay in /*) ;; *) assay=$(pwd)/$assay ;; esac
room=$(mktemp -d) || exit 2
trap 'rm -rf "$room"' EXIT
trap 'exit 130' INT TERM
export XDG_CACHE_HOME="$room/cache" PYTHONDONTWRITEBYTECODE=1
wrong=0
for language in ${2:-python ruby javascript}; do
    case $language in
        python) set -- python3 -m unittest ;;
        ruby) set -- rspec ;;
        javascript) set -- node --test ;;
    esac
    if ! command -v "$1" > /dev/null; then
        echo "$language: left out, since $1 is not here"
        continue
    fi
    for kind in well-tested tangled brittle untested; do
        cp -r "$here/$language/$kind" "$room/$language-$kind"
        cd "$room/$language-$kind" || exit 2
        "$assay" mutate --no-sandbox --coupling --json -- "$@" > "$room/result.json" || { wrong=1; continue; }
        python3 - "$room/result.json" "$language/$kind" << 'END' || wrong=1
import json, sys
result, name = json.load(open(sys.argv[1])), sys.argv[2]
wanted = name.split("/")[1].replace("-", "_")
whole = result["coupling"]
files = [own["coupling"]["quadrant"] for own in result["files"] if own["score"]["counted"]]
number = lambda own: "–" if own is None else "%.2f" % own["estimate"]
print("%-24s %-12s score %.2f  focus %s  blast radius %s  rewrites %d of %d   files: %s" % (
    name, whole["quadrant"], whole["share"], number(whole["focus"]), number(whole["blast_radius"]),
    whole["failing_rewrites"], whole["rewrites"], ", ".join(map(str, files))))
sys.exit(0 if whole["quadrant"] == wanted and all(own == wanted for own in files) else 1)
END
    done
done
[ $wrong = 0 ] && echo "all are called what they are"
exit $wrong
