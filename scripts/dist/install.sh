#!/bin/sh
# Installs assay from its tarball: downloads it, verifies its checksum, tries to run it, and only
# then installs it. Until then, or if anything fails or is interrupted, nothing in the existing
# installation has changed.
# Usage: install.sh [--from URL|DIRECTORY] [--version V] [--prefix DIRECTORY] [--uninstall]
#   --from       where the tarball and SHA256SUMS are (ASSAY_FROM); by default the directory of this script, if they are there
#   --version    which version (ASSAY_VERSION); by default the one in SHA256SUMS
#   --prefix     where bin/ and share/ are (ASSAY_PREFIX); by default ~/.local, for root /usr/local
#   --uninstall  removes what this script has installed there
# It needs tar, gzip and one of sha256sum, shasum, openssl; to download curl or wget.
set -eu

PACKAGE=assay-bench
from=${ASSAY_FROM-}
version=${ASSAY_VERSION-}
prefix=${ASSAY_PREFIX-}
uninstalling=

# Everything is in functions called by the last line, so that a truncated script, from a broken
# connection, does nothing.
fail() {
    printf 'install.sh: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '  %s\n' "$line" >&2; done
    exit 1
}

read_options() {
    while [ $# -gt 0 ]; do
        case $1 in
            --from | --version | --prefix)
                [ $# -gt 1 ] || fail "$1 needs a value"
                case $1 in
                    --from) from=$2 ;;
                    --version) version=$2 ;;
                    --prefix) prefix=$2 ;;
                esac
                shift 2
                ;;
            --uninstall) uninstalling=1 && shift ;;
            -h | --help)
                echo "install.sh [--from URL|DIRECTORY] [--version V] [--prefix DIRECTORY] [--uninstall]"
                exit 0
                ;;
            *) fail "unknown option $1 (see --help)" ;;
        esac
    done
    if [ -z "$prefix" ]; then
        if [ "$(id -u)" = 0 ]; then
            prefix=/usr/local
        else
            prefix=${HOME:?is not set: name a directory with --prefix}/.local
        fi
    fi
    case $prefix in
        /*) ;;
        *) prefix=$PWD/$prefix ;;
    esac
}

# Prints the name of this machine as in the tarballs.
machine() {
    system=$(uname -s)
    [ "$system" = Linux ] || fail "there are no programs for $system, only for Linux" "Build it from the sources: it needs Rust and a C compiler."
    case $(uname -m) in
        x86_64 | amd64) echo x86_64-linux ;;
        aarch64 | arm64) echo aarch64-linux ;;
        *) fail "there is no program for the processor $(uname -m), only for x86_64 and aarch64 (arm64)" "Build it from the sources: it needs Rust and a C compiler." ;;
    esac
}

# fetch NAME FILE: copies or downloads a file from its location.
fetch() {
    case $from in
        https://* | http://* | file://*)
            if command -v curl >/dev/null 2>&1; then
                curl --fail --silent --show-error --location --output "$2" "$from/$1"
            elif command -v wget >/dev/null 2>&1; then
                wget --quiet --output-document="$2" "$from/$1"
            else
                fail "there is neither curl nor wget to download with" "Download $from/$1 and SHA256SUMS, and say --from DIRECTORY."
            fi || fail "$from/$1 could not be downloaded"
            ;;
        *) cp "$from/$1" "$2" 2>/dev/null || fail "there is no file $from/$1 that can be read" "--from names a URL or a directory that has it." ;;
    esac
}

sum_of() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum <"$1"
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 <"$1"
    elif command -v openssl >/dev/null 2>&1; then
        openssl dgst -sha256 -r <"$1"
    else
        fail "there is none of sha256sum, shasum and openssl to check the sum with" "Nothing is installed unchecked."
    fi | cut -d ' ' -f 1
}

# The installed files, one path per line relative to the prefix; itself a file of the installation.
LIST=share/$PACKAGE/installed

uninstall() {
    [ -f "$prefix/$LIST" ] || fail "nothing is installed below $prefix by this script"
    while read -r path; do
        rm -f "$prefix/$path"
    done <"$prefix/$LIST"
    rm -f "$prefix/$LIST"
    rmdir "$prefix/share/$PACKAGE" 2>/dev/null || :
    echo "removed from $prefix"
}

install() {
    kind=$(machine)
    if [ -z "$from" ]; then
        here=$(cd "$(dirname "$0")" && pwd)
        [ -f "$here/SHA256SUMS" ] || fail "it is not said where to install from" "--from URL|DIRECTORY names where the tarball and SHA256SUMS are."
        from=$here
    fi
    # On the destination's file system, so that files can be moved atomically, and running the
    # program is tried there.
    mkdir -p "$prefix" 2>/dev/null && [ -w "$prefix" ] || fail "$prefix can't be written" "--prefix names another directory."
    staged=$(mktemp -d "$prefix/.$PACKAGE.XXXXXX")
    trap 'rm -rf "$staged"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP

    fetch SHA256SUMS "$staged/SHA256SUMS"
    pattern="^[0-9a-f]*  \\($PACKAGE-${version:-[0-9][0-9A-Za-z.+-]*}-$kind\\.tar\\.gz\\)\$"
    name=$(sed -n "s/$pattern/\\1/p" "$staged/SHA256SUMS")
    case $name in
        '') fail "$from/SHA256SUMS has no $PACKAGE ${version:-of any version} for $kind" ;;
        *"
"*) fail "$from/SHA256SUMS has several versions: name one with --version" "$name" ;;
    esac
    fetch "$name" "$staged/$name"
    wanted=$(grep "  $name\$" "$staged/SHA256SUMS" | cut -d ' ' -f 1)
    found=$(sum_of "$staged/$name")
    [ "$wanted" = "$found" ] || fail "$name is not what SHA256SUMS says: nothing was installed" "wanted $wanted" "found  $found"

    gzip -dc "$staged/$name" | (cd "$staged" && tar -xf -)
    unpacked=$staged/${name%.tar.gz}
    "$unpacked/assay" --version >/dev/null || fail "the program can't be started from $prefix (is that file system mounted noexec?): nothing was installed"

    new=$staged/new
    mkdir -p "$new/bin" "$new/share/man/man1" "$new/share/$PACKAGE" \
        "$new/share/bash-completion/completions" "$new/share/zsh/site-functions" "$new/share/fish/vendor_completions.d"
    # The main program, which needs the others, is installed last.
    for program in "$unpacked"/assay-* "$unpacked/assay"; do mv "$program" "$new/bin/"; done
    mv "$unpacked"/man/man1/* "$new/share/man/man1/"
    mv "$unpacked/completions/assay.bash" "$new/share/bash-completion/completions/assay"
    mv "$unpacked/completions/assay.zsh" "$new/share/zsh/site-functions/_assay"
    mv "$unpacked/completions/assay.fish" "$new/share/fish/vendor_completions.d/assay.fish"
    mv "$unpacked"/LICENSE-* "$unpacked/README.md" "$new/share/$PACKAGE/"
    (cd "$new" && find . -type f | sed 's/^\.\///' | grep -v '^bin/assay$' | sort && echo bin/assay) >"$staged/list"
    # Checks in advance for possible failures: all directories exist and are writable.
    while read -r path; do
        place=$prefix/$(dirname "$path")
        mkdir -p "$place" 2>/dev/null && [ -w "$place" ] || fail "$place can't be written: nothing was installed" "--prefix names another directory."
        [ ! -d "$prefix/$path" ] || fail "$prefix/$path is a directory: nothing was installed"
    done <"$staged/list"

    # From here on signals are ignored: each file is replaced atomically, which takes only a moment.
    trap '' INT TERM HUP
    while read -r path; do mv -f "$new/$path" "$prefix/$path"; done <"$staged/list"
    if [ -f "$prefix/$LIST" ]; then
        # Removes files of an older version that this one does not have.
        grep -vxF -f "$staged/list" "$prefix/$LIST" | while read -r path; do rm -f "$prefix/$path"; done
    fi
    mv -f "$staged/list" "$prefix/$LIST"
    echo "installed: $("$prefix/bin/assay" --version) in $prefix/bin"
    case :$PATH: in
        *:"$prefix/bin":*) ;;
        *) echo "$prefix/bin is not on PATH: add it, for example in ~/.profile: export PATH=\"$prefix/bin:\$PATH\"" ;;
    esac
}

read_options "$@"
if [ -n "$uninstalling" ]; then uninstall; else install; fi
