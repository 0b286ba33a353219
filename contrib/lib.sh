# shellcheck shell=bash
# Shell helpers shared by the programs in contrib/: messages, packages, build.
# Source it, with bash and `set -euo pipefail`:
#
#   source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
#   install_packages "${BUILD_PACKAGES[@]}"
#   build_expfs "$TOP/build" --enable-werror
#
# Gives:  TOP               the checkout, absolute
#         BUILD_PACKAGES    Debian packages that building and mounting need
#         say TEXT          one line of progress on standard output
#         die TEXT          one line on standard error, exit 3
#         quietly COMMAND   run it; its output is shown only if it fails, and then this script ends too
#         as_root COMMAND   run it as root: directly, or through sudo
#         install_packages PACKAGE...              install those that are missing
#         build_expfs DIR [CONFIGURE-OPTION...]    build in DIR; configures it only if it is not configured yet
#         copy_sources DIR    make DIR, with the sources alone of this checkout

TOP=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")

# shellcheck disable=SC2034 # for those who source this
BUILD_PACKAGES=(
    gcc libc6-dev make autoconf automake pkgconf
    fuse3 libfuse3-dev libsqlite3-dev libxxhash-dev libyaml-dev libjansson-dev libssl-dev zlib1g-dev
)

say() { printf '%s\n' "$*"; }

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 3
}

quietly() {
    local log
    log=$(mktemp --tmpdir "${0##*/}-XXXXXX.log")
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 40 "$log" >&2
        die "failed: $*; the whole log is $log"
    fi
    rm -f "$log"
}

as_root() {
    if ((EUID == 0)); then
        "$@"
    else
        sudo -n -- "$@"
    fi
}

install_packages() {
    local package missing=()

    command -v apt-get >/dev/null ||
        die "this is no Debian machine; install what stands for these packages, then build as README.md says: $*"
    for package in "$@"; do
        [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done
    ((${#missing[@]})) || return 0

    if ((EUID != 0)); then
        command -v sudo >/dev/null || die "packages are missing and there is no sudo; as root: apt-get install ${missing[*]}"
        sudo -v || die "packages are missing and sudo refused; as root: apt-get install ${missing[*]}"
    fi
    say "installing ${missing[*]}"
    quietly as_root apt-get update
    quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

build_expfs() {
    local dir=$1
    shift

    say "building in $dir"
    [[ -f $TOP/configure && -f $TOP/Makefile.in ]] || quietly autoreconf -i "$TOP"
    mkdir -p "$dir"
    [[ -f $dir/Makefile ]] || (cd "$dir" && quietly "$TOP/configure" "$@")
    quietly make -C "$dir" -j"$(nproc)"
}

# A checkout may have builds in it; a tarball that was unpacked has nothing but the sources.
copy_sources() {
    mkdir "$1"
    if [[ -e $TOP/.git ]]; then
        git -C "$TOP" ls-files -z --cached --others --exclude-standard | tar -C "$TOP" --null -T - -c | tar -C "$1" -x
    else
        tar -C "$TOP" -c . | tar -C "$1" -x
    fi
}
