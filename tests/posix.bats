# What every program takes for granted: names, links, open files, errors, directories, attributes.

load lib

setup() { scratch; store_init; mount_store; }
teardown() { cleanup; }

@test "every check of the programs below is run" {
    for program in errnos basic readdir xattr write; do all_checks_run $program; done
}

@test "opening what cannot be opened gives the errno of a local disk" { check errnos opening; }
@test "making and removing directories wrongly gives the errno of a local disk" { check errnos directories; }
@test "linking wrongly gives the errno of a local disk" { check errnos links; }
@test "misusing a descriptor gives the errno of a local disk" { check errnos descriptors; }
@test "a name of 256 bytes and a path of 4096 give ENAMETOOLONG and make nothing" { check errnos long_names; }

@test "O_APPEND, O_TRUNC, O_EXCL, O_PATH and the umask do what they do on a disk" { check basic flags; }
@test "O_DIRECT writes and reads the same bytes as the page cache sees" { check basic direct; }
@test "a file deleted while open keeps its bytes and leaves no hidden name" { check basic unlinked_open; }
@test "a file made anew under a name is another inode while the old one is open" { check basic recreated; }
@test "hard links are one inode with one content, one mode and a true count" { check basic hard_links; }
@test "a symbolic link has the size of its target and gives it back byte for byte" { check basic symbolic_links; }
@test "FIFOs pass bytes and device nodes and sockets keep type and number" { check basic nodes; }
@test "a descriptor follows its file when a directory above is renamed" { check basic held_directory; }
@test "a working directory can be renamed and removed below its process" { check basic working_directory; }
@test "a tree of 300 levels can be made and taken down" { check basic deep_tree; }
@test "closing a duplicate does not end the file" { check basic dup_close; }
@test "a forked child that exits does not end its parent's file" { check basic forked_close; }
@test "of two handles with O_TRUNC the content is whole at the last close" { check basic two_writers; }
@test "inotify reports what programs do on the mount" { check basic watched; }
@test "statfs gives sane numbers of blocks, inodes and name length" { check basic space_numbers; }

@test "statfs of the top, of a directory and of .expfs agrees with the store's disk" {
    local path
    for path in "$MNT" "$D" "$MNT/.expfs"; do
        equal "$(stat -f -c '%S %b' "$path")" "$(stat -f -c '%S %b' "$STORE")" "block size and count of $path"
    done
    df --output=ipcent "$MNT" | tail -n 1 | grep -Eq '^ *[0-9]{1,2}%$'
    # Other programs write meanwhile: free blocks agree to 1 GiB, or to a tenth of a small disk.
    python3 - "$MNT" "$STORE" <<'PY'
import os, sys
m, s = (os.statvfs(p) for p in sys.argv[1:])
for field in ("f_bavail", "f_bfree"):
    a, b = (getattr(v, field) * v.f_frsize for v in (m, s))
    assert abs(a - b) < max(2**30, b // 10), (field, a, b)
PY
}

@test "removing while listing misses nothing" { check readdir removing; }
@test "adding while listing loses and doubles nothing" { check readdir adding; }
@test "renaming while listing shows every other entry once" { check readdir renaming; }
@test "telldir, seekdir and rewinddir find their place" { check readdir positions; }
@test "types and inode numbers of readdir are those of stat" { check readdir types; }
@test "a directory's link count is its subdirectories and two" { check readdir link_counts; }
@test "two listings of one directory do not share a position" { check readdir two_readers; }

@test "user xattrs of any bytes are set, read, listed and removed" { check xattr values; }
@test "xattr flags, namespaces and long names are treated as on a disk" { check xattr rules; }
@test "xattrs go with the inode through links and renames and move only ctime" { check xattr travel; }

@test "xattrs, modes, owners and links are the same after a remount" {
    bytes "$D/f" 1000 1
    chmod 6751 "$D/f"
    ln "$D/f" "$D/g"
    ln -s f "$D/l"
    mkfifo "$D/p"
    mkdir -m 1711 "$D/dir"
    python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.note", b"kept\0")' "$D/f"
    if ((EUID == 0)); then chown 1234:4321 "$D/f" "$D/dir"; chown -h 7:8 "$D/l"; fi
    local before
    before=$(cd "$D" && stat -c '%n %f %i %h %u %g %s %Y %Z %t %T' -- *)
    remount
    equal "$(cd "$D" && stat -c '%n %f %i %h %u %g %s %Y %Z %t %T' -- *)" "$before" "stat of all"
    python3 -c 'import os, sys; assert os.getxattr(sys.argv[1], "user.note") == b"kept\0"' "$D/g"
    equal "$(readlink "$D/l")" f
}

@test "no write is short and the offset is the sum of what was written" { check write counts; }
@test "no write is short while four processes write" { check write counts_together; }
@test "writev and pwritev write all their parts" { check write vectors; }
@test "one write of more than 2 GiB under a name with umlauts loses no byte" { check write huge; }
@test "a shorter content leaves nothing of a longer one" { check write shorter; }
@test "a rewritten status file is exactly its new text once it is closed" { check write status_file; }
@test "lines appended by four processes are all there and whole" { check write appenders; }
@test "appending and cutting by turns gives the bytes of a disk" { check write append_and_cut; }
@test "copy_file_range and sendfile copy exactly, also into the middle" { check write copies; }
@test "fsync, fdatasync, msync and syncfs succeed on every kind of descriptor" { check write syncs; }

@test "a longer and a shorter zip over each other load before and after a remount" {
    checkpoint zip "$D/last.pt" 20000000 1
    checkpoint zip "$D/last.pt" 3000000 2
    checkpoint zip "$SCRATCH/wanted" 3000000 2
    cmp "$D/last.pt" "$SCRATCH/wanted"
    python3 -m zipfile -t "$D/last.pt"
    remount
    cmp "$D/last.pt" "$SCRATCH/wanted"
    python3 -m zipfile -t "$D/last.pt"
}

@test "a big file is whole after a remount" {
    local size=$((200 * 1024 * 1024))
    long && size=$((5 * 1024 * 1024 * 1024))
    python3 - "$D/größe-模型.pt" $size w <<'PY'
import sys
path, size = sys.argv[1], int(sys.argv[2])
with open(path, "wb") as f:
    for at in range(0, size, 1 << 20):
        f.write((b"%015d\n" % at) * 65536)
PY
    remount
    python3 - "$D/größe-模型.pt" $size <<'PY'
import sys
path, size = sys.argv[1], int(sys.argv[2])
with open(path, "rb") as f:
    for at in range(0, size, 1 << 20):
        assert f.read(1 << 20) == (b"%015d\n" % at) * 65536, at
    assert f.read() == b""
PY
}

@test "a file renamed onto the mount from outside gives EXDEV and mv copies it with its time" {
    bytes "$SCRATCH/outside" 100000 1
    touch -d '2020-01-02 03:04:05.678901234' "$SCRATCH/outside"
    cp -p "$SCRATCH/outside" "$SCRATCH/copy"
    python3 - "$SCRATCH/outside" "$D/inside" <<'PY'
import errno, os, sys
for call in (os.rename, os.link):
    try: call(sys.argv[1], sys.argv[2]); raise SystemExit("%s succeeded" % call)
    except OSError as e: assert e.errno == errno.EXDEV, e
PY
    mv "$SCRATCH/outside" "$D/inside"
    cmp "$SCRATCH/copy" "$D/inside"
    equal "$(stat -c %.9Y "$D/inside")" "$(stat -c %.9Y "$SCRATCH/copy")"
}

@test "copying trees with cp, tar and rsync gives the same tree" {
    mkdir -p "$D/a/step_9" "$D/b"
    checkpoint zip "$D/a/step_9/model.pt" 300000 1
    ln -s step_9/model.pt "$D/a/last"
    ln "$D/a/step_9/model.pt" "$D/a/hard"
    mkfifo "$D/a/pipe"
    touch -h -d '2021-01-01 00:00:00.5' "$D/a/last"
    touch -d '2022-02-02 02:02:02.123456789' "$D/a/step_9/model.pt" "$D/a/step_9"
    cp -a "$D/a" "$D/b/cp"
    mkdir "$D/b/tar"
    tar -C "$D/a" -cf - . | tar -C "$D/b/tar" -xpf -
    local copy list
    list=$(cd "$D/a" && find . -type f -printf '%p %m %s %n %t\n' | sort)
    for copy in cp tar; do
        equal "$(readlink "$D/b/$copy/last")" step_9/model.pt
        cmp "$D/b/$copy/last" "$D/a/step_9/model.pt"
        equal "$(stat -c %i "$D/b/$copy/hard")" "$(stat -c %i "$D/b/$copy/step_9/model.pt")"
    done
    equal "$(cd "$D/b/cp" && find . -type f -printf '%p %m %s %n %t\n' | sort)" "$list"
    cp -rL "$D/a/last" "$D/b/followed"
    cmp "$D/b/followed" "$D/a/step_9/model.pt"
    if command -v rsync >/dev/null; then
        rsync -aH "$D/a/" "$D/b/rsync/"
        equal "$(rsync -aHi "$D/a/" "$D/b/rsync/")" "" "what a second rsync copies"
    fi
}
