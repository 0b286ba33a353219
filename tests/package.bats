# What people install: the tarball and the Debian package. contrib/package-check does more, in clean chroots.

load lib

teardown() { cleanup; }

@test "the tarball has all files of the repository" {
    [[ -e $EXPFS_SRCDIR/.git ]] || skip "no repository"
    require_command git
    scratch
    env -u MAKEFLAGS make -s -C "$EXPFS_BUILDDIR" distdir distdir="$SCRATCH/dist" >/dev/null 3>&-
    git -C "$EXPFS_SRCDIR" ls-files | grep -vFx -e .gitignore -e build-aux/.keep | sort >"$SCRATCH/wanted"
    (cd "$SCRATCH/dist" && find . -type f -printf '%P\n') | sort | comm -13 - "$SCRATCH/wanted" >"$SCRATCH/missing"
    equal "$(cat "$SCRATCH/missing")" "" "files that no EXTRA_DIST names"
}

@test "the Debian package is built without a warning of lintian, and works" {
    require_root
    require_command dh dpkg-buildpackage lintian
    scratch
    "$EXPFS_SRCDIR/contrib/deb" "$SCRATCH/deb" </dev/null >"$SCRATCH/out" 3>&-
    lintian --allow-root --fail-on error,warning "$SCRATCH/deb"/expfs_*.changes 3>&-
    dpkg -x "$(tail -n 1 "$SCRATCH/out")" "$SCRATCH/root"
    EXPFS=$SCRATCH/root/usr/bin/expfs MOUNT_HELPER=$SCRATCH/root/usr/sbin/mount.expfs "$EXPFS_SRCDIR/debian/tests/use" </dev/null 3>&-
    [[ -f $SCRATCH/root/usr/share/bash-completion/completions/expfs && -f $SCRATCH/root/usr/share/zsh/vendor-completions/_expfs ]]
    [[ -f $SCRATCH/root/usr/share/fish/vendor_completions.d/expfs.fish ]]
    grep -q '^ExecStart=/usr/bin/expfs ' "$SCRATCH/root/usr/lib/systemd/system/expfs@.service"
}
