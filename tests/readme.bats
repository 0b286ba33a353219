# Everything that the README and the documents print is run as it stands there; for the manual pages see manual.bats.

load lib

setup() {
    require_fuse
    scratch
    export HOME=$SCRATCH/home
    mkdir "$HOME"
}

teardown() {
    fusermount3 -uzq "$HOME/mnt" || true
    fusermount3 -uzq "$HOME/expfs-demo/mnt" || true
    cleanup
}

# The top of a clone that is built in build/, wherever this build is.
clone() {
    mkdir "$SCRATCH/clone"
    ln -s "$EXPFS_BUILDDIR" "$SCRATCH/clone/build"
    ln -s "$EXPFS_SRCDIR/contrib" "$SCRATCH/clone/contrib"
}

# printed DOCUMENT [SECTION]: it goes as printed, and leaves no mount. It begins at the top of the clone.
printed() {
    clone
    export PATH=$EXPFS_BUILDDIR:$PATH
    python3 "$BATS_TEST_DIRNAME/printed.py" "$EXPFS_SRCDIR/$1" "$SCRATCH/clone" "${@:2}" 3>&-
    not grep -q "$HOME/mnt" /proc/self/mountinfo
}

@test "the session by hand goes as the README prints it" { printed README.md "A session by hand"; }

@test "what is printed of history, restore and forget is what they do" { printed doc/experiments.md "History, restore, forget"; }

@test "what is printed of experiments is what they do" { printed doc/experiments.md "Experiments"; }

@test "what is printed of a selection is what becomes of one" { printed doc/experiments.md "Which weights are in a file"; }

@test "the tutorial goes from nothing to a branch from an older step as it is printed" { printed doc/tutorial.md; }

@test "a dead daemon and a damaged content are seen and mended as the document on recovery prints it" { printed doc/recovery.md; }

@test "no document prints commands that no test runs" {
    local document section
    while IFS=: read -r document section; do
        grep -qE "printed $document( \"$section\")? ?;? ?\}" "$BATS_TEST_FILENAME" ||
            fail "$document: no test here runs what the section $section prints"
    done < <(cd "$EXPFS_SRCDIR" && awk '
        FNR == 1 { section = "" }
        /^## / { section = substr($0, 4) }
        /^```(console|[a-z]+ [^ ]+)$/ && section != "Try it" { print FILENAME ":" section }' README.md doc/*.md)
}

@test "contrib/quickstart trains into a mount, and a second run goes on from there" {
    [[ $EXPFS_BUILDDIR == "$EXPFS_SRCDIR/build" ]] || skip "quickstart builds in build/ of the checkout, this build is elsewhere"
    local out
    grep -qx '\$ contrib/quickstart' "$EXPFS_SRCDIR/README.md" # what it prints depends on the machine
    (cd "$EXPFS_SRCDIR" && contrib/quickstart) 3>&-
    [[ $(readlink "$HOME/expfs-demo/mnt/branches/demo/latest") == ../../runs/demo/checkpoint-200 ]]
    out=$("$EXPFS_SRCDIR/contrib/quickstart" 3>&-)
    [[ $out == *"training goes on"* ]]
    [[ $(readlink "$HOME/expfs-demo/mnt/branches/demo/latest") == ../../runs/demo/checkpoint-400 ]]
    "$EXPFS" umount "$HOME/expfs-demo/mnt"
    "$EXPFS" fsck "$HOME/expfs-demo/store"
}
