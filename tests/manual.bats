# The manual pages: that they are right in form, say what the program says, and that what they print is so.

load lib

MAN=$EXPFS_SRCDIR/doc/man

setup() { scratch; }

teardown() { cleanup; }

# Of the pages, and not of the files of one line that lead to one.
pages() { grep -L '^\.so ' "$MAN"/*.[1-9]; }

# What is installed of them, below $SCRATCH/man
install_pages() {
    env -u MAKEFLAGS make -s -C "$EXPFS_BUILDDIR" install-man mandir="$SCRATCH/man" >/dev/null 3>&-
}

@test "mandoc finds nothing to say of the pages" {
    require_command mandoc
    # Which pages of others are installed here is no matter of ours.
    mandoc -T lint $(pages) >"$SCRATCH/lint" 2>/dev/null || true
    not grep -v 'referenced manual not found' "$SCRATCH/lint"
    python3 "$BATS_TEST_DIRNAME/manual.py" references "$MAN"
}

@test "man renders the pages without a warning" {
    require_command man groff
    local page
    for page in $(pages); do
        MANWIDTH=80 man --warnings -E UTF-8 -l "$page" >"$SCRATCH/text" 2>"$SCRATCH/warnings"
        equal "$(cat "$SCRATCH/warnings")" "" "$page"
        grep -q "^NAME" "$SCRATCH/text"
    done
}

@test "each command has a page of its name when the pages are installed" {
    require_command man
    local command
    install_pages
    for command in $("$EXPFS" help | grep -o '[a-z]*' | sort -u); do
        "$EXPFS" help "$command" >/dev/null 2>&1 || continue
        man -M "$SCRATCH/man" "expfs-$command" >"$SCRATCH/text"
        grep -q "expfs $command" "$SCRATCH/text" || fail "the page of $command does not tell of it"
    done
}

@test "the pages have each command and option of the help, and no other" {
    require_command mandoc
    python3 "$BATS_TEST_DIRNAME/manual.py" commands "$EXPFS" "$MAN"
}

@test "each heading of the pages is shown as it was written" {
    require_command mandoc
    python3 "$BATS_TEST_DIRNAME/manual.py" headings "$MAN"
}

@test "each message in the pages is one of the program" {
    python3 "$BATS_TEST_DIRNAME/manual.py" messages "$EXPFS_SRCDIR" "$MAN"
}

@test "the pages have each kind of warning, attribute and key of the configuration, and no other" {
    python3 "$BATS_TEST_DIRNAME/manual.py" names "$EXPFS_SRCDIR" "$MAN"
}

@test "the examples of the pages go as they are printed" {
    local page
    export HOME=$SCRATCH PATH=$EXPFS_BUILDDIR:$PATH # the pages print the home directory of root
    "$EXPFS" init "$SCRATCH/trained"
    "$EXPFS" mount "$SCRATCH/trained" "$MNT" 3>&-
    "$EXPFS_BUILDDIR/contrib/demo/charlm" "$MNT/runs/first" --steps 100
    umount_store
    rmdir "$MNT"
    for page in $(grep -l '^\$ ' $(pages)); do
        if ! grep -q 'expfs init' "$page"; then
            cp -a "$SCRATCH/trained" "$STORE"
            mkdir "$MNT"
            mount_store
            rmdir "$D"
        fi
        python3 "$BATS_TEST_DIRNAME/printed.py" "$page" "$SCRATCH" 3>&- || fail "$page"
        ! is_mounted "$MNT" || umount_store
        "$EXPFS" fsck "$STORE"
        rm -r "$MNT" "$STORE"
    done
}

@test "the example of a configuration is one, with runs and checkpoints where the page says" {
    store_init
    sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' "$MAN/expfs.config.5" | sed '1,/^\.Bd/d; /^\.Ed/d' >"$STORE/config.yaml"
    mount_store
    mkdir -p "$MNT/exp/a/b"
    echo x >"$MNT/exp/a/b/w_7.ckpt2"
    echo x >"$MNT/exp/a/b/predictions1.npz"
    equal "$(readlink "$MNT/branches/exp.a.b/latest")" ../../exp/a/b/w_7.ckpt2
    equal "$(xattr "$MNT/exp/a/b/predictions1.npz" user.expfs.role)" ""
    not grep -q '"config"' "$MNT/.expfs/status.json"
}
