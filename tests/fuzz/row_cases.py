"""What rows.py changes in the database of a store: the listed cases, and those made by chance."""

N = -(2**63)
P = 2**63 - 1
LOOP = "INSERT INTO dirent VALUES({}, {}, '{}', {}, 4, 0, 0)"

# name: statements; {a}: the inode of runs/a, {f}: of a file that shares its content, {o}: that content, {l}: of a live
# file, {c}: of a directory checkpoint, {s}: of a symbolic link, {x}: of a file with attributes.
CASES = {
    "nothing-wrong": [],
    "numbers-negative": ["UPDATE inode SET size=-1, blocks=-1, nlink=-1, uid=-1, gid=-1, rdev=-1 WHERE ino>1"],
    "numbers-largest": [f"UPDATE inode SET size={P}, blocks={P}, atime={P}, mtime={P}, ctime={P}, btime={P}"],
    "numbers-least": [f"UPDATE inode SET size={N}, blocks={N}, atime={N}, mtime={N}, ctime={N}, btime={N}"],
    "numbers-text": ["UPDATE inode SET size='x', mode='y', nlink='z', atime='t' WHERE ino={f}"],
    "numbers-real": ["UPDATE inode SET size=1e300, mtime=-1e300, mode=33188.5 WHERE ino={f}"],
    "orders-largest": [f'UPDATE inode SET "order"={P}', f'UPDATE dirent SET "order"={P}'],
    "orders-negative": ['UPDATE inode SET "order"=-1', 'UPDATE dirent SET "order"=-2'],
    "everything-null": ["UPDATE inode SET size=NULL, blocks=NULL, nlink=NULL, flags=NULL, mode=NULL, mtime=NULL WHERE ino={f}",
                        "UPDATE dirent SET name=NULL, type=NULL, class=NULL WHERE ino={f}",
                        "UPDATE xattr SET value=NULL", "UPDATE object SET state=NULL, size=NULL, seal=NULL, synced=NULL"],
    "modes-of-no-kind": ["UPDATE inode SET mode=0 WHERE ino={f}", "UPDATE inode SET mode=-1 WHERE ino={l}"],
    "file-is-directory": ["UPDATE inode SET mode=16877 WHERE ino={f}"],
    "directory-is-file": ["UPDATE inode SET mode=33188 WHERE ino={a}"],
    "directory-is-link": ["UPDATE inode SET mode=41471 WHERE ino={c}"],
    "top-is-file": ["UPDATE inode SET mode=33188 WHERE ino=1"],
    "top-is-gone": ["DELETE FROM inode WHERE ino=1"],
    "all-are-directories": ["UPDATE inode SET mode=16877", "UPDATE dirent SET type=4, class=127"],
    "all-have-roles": ["UPDATE dirent SET class=-1"],
    "types-of-no-kind": ["UPDATE dirent SET type=-1", "UPDATE dirent SET type=200 WHERE ino={a}"],
    "directory-in-itself": [LOOP.format("{a}", 900, "me", "{a}")],
    "directories-in-a-circle": [LOOP.format("{c}", 900, "up", "{a}"), LOOP.format("{a}", 901, "top", 1)],
    "circle-apart": ["UPDATE dirent SET parent={c}, name='up' WHERE ino={a}"],
    "circle-of-two-names": [LOOP.format("{a}", 900, "x", "{a}"), LOOP.format("{a}", 901, "y", "{a}"), LOOP.format("{a}", 902, "z", "{a}")],
    "top-in-a-run": [LOOP.format("{a}", 900, "x", 1), LOOP.format("{a}", 901, "y", 1)],
    "checkpoint-in-itself": [LOOP.format("{c}", 900, "x", "{c}"), LOOP.format("{c}", 901, "y", "{c}")],
    "names-with-slash": ["UPDATE dirent SET name=X'612F62' WHERE ino={f}"],
    "names-with-nul": ["UPDATE dirent SET name=X'6100622E7074' WHERE ino={f}"],
    "names-empty": ["UPDATE dirent SET name=X'' WHERE ino={f}"],
    "names-too-long": ["UPDATE dirent SET name=CAST(printf('%.*c', 300, 'n') AS BLOB) WHERE ino={f}"],
    "names-huge": ["UPDATE dirent SET name=zeroblob(500000) WHERE ino={f}"],
    "names-are-dots": ["UPDATE dirent SET name=X'2E2E' WHERE ino={f}", "UPDATE dirent SET name=X'2E' WHERE ino={a}"],
    "names-are-ours": ["UPDATE dirent SET name=CAST('.expfs' AS BLOB) WHERE ino={a}"],
    "names-text": ["UPDATE dirent SET name=CAST(name AS TEXT)"],
    "names-number": ["UPDATE dirent SET name=12345 WHERE ino={a}"],
    "names-bad-and-new-rules": ["UPDATE dirent SET name=X'2F' WHERE ino={f}", "UPDATE store SET value=1 WHERE key='rules'"],
    "entries-negative": ["UPDATE dirent SET id=-id WHERE parent={a}", "UPDATE dirent SET ino=-ino WHERE parent=1"],
    "entries-largest": [f"UPDATE dirent SET id={P} WHERE ino={{f}}", f"UPDATE dirent SET id={P}-1 WHERE ino={{a}}"],
    "entries-of-nobody": ["INSERT INTO dirent VALUES({a}, 900, 'x.pt', 123456, 8, 16, 0)", "INSERT INTO dirent VALUES(777, 901, 'y', {f}, 8, 0, 0)"],
    "inode-of-view": [f"INSERT INTO inode SELECT {2**62} + 5, mode, nlink, uid, gid, rdev, size, blocks, atime, mtime, ctime, btime, NULL, 0, 0, NULL, 0 FROM inode WHERE ino={{a}}",
                      f"INSERT INTO dirent VALUES(1, 900, 'v', {2**62} + 5, 4, 0, 0)"],
    "inode-negative": ["INSERT INTO inode SELECT -7, mode, nlink, uid, gid, rdev, size, blocks, atime, mtime, ctime, btime, NULL, 0, 0, NULL, 0 FROM inode WHERE ino={a}",
                       "INSERT INTO dirent VALUES(1, 900, 'v', -7, 4, 0, 0)"],
    "inode-zero": ["INSERT INTO inode SELECT 0, mode, nlink, uid, gid, rdev, size, blocks, atime, mtime, ctime, btime, NULL, 0, 0, NULL, 0 FROM inode WHERE ino={a}",
                   "INSERT INTO dirent VALUES(1, 900, 'v', 0, 4, 0, 0)"],
    "contents-gone": ["DELETE FROM object"],
    "contents-live": ["UPDATE object SET state=0", "UPDATE inode SET flags=flags|4"],
    "contents-shared-live": ["UPDATE inode SET object={o} WHERE object IS NOT NULL", "UPDATE object SET state=0 WHERE id={o}"],
    "contents-of-directories": ["UPDATE inode SET object={o}, flags=4"],
    "contents-live-and-none": ["UPDATE inode SET object=NULL WHERE ino={l}"],
    "contents-live-and-zero": ["UPDATE inode SET object=zeroblob(3) WHERE object IS NOT NULL"],
    "contents-swapped": ["UPDATE inode SET object=(SELECT max(id) FROM object) WHERE ino={f}"],
    "contents-of-no-state": ["UPDATE object SET state=-3, synced=-9, verdict=-5, seal=-1"],
    "contents-verdict": [f"UPDATE object SET verdict={P}", f"UPDATE object SET verdict={N} WHERE id={{o}}"],
    "contents-long": [f"UPDATE object SET size={P}", f"UPDATE inode SET size={P} WHERE object IS NOT NULL"],
    "contents-negative": ["UPDATE object SET size=-1", "UPDATE inode SET size=-1 WHERE object IS NOT NULL"],
    "contents-id-negative": ["UPDATE object SET id=-id", "UPDATE inode SET object=-object"],
    "digests-wrong": ["UPDATE object SET digest=X'00' WHERE id={o}", "UPDATE object SET digest=zeroblob(1000000) WHERE id<>{o}"],
    "digests-equal": ["UPDATE object SET size=7, digest=zeroblob(16)"],
    "undo-of-everything": ["DELETE FROM undo", "INSERT INTO undo SELECT ino, {o} FROM inode", "UPDATE object SET synced=0"],
    "undo-of-nothing": ["DELETE FROM undo", "INSERT INTO undo VALUES(12345, 67890), (-1, -1), (0, 0)", "UPDATE object SET synced=0"],
    "undo-of-itself": ["DELETE FROM undo", "INSERT INTO undo SELECT ino, object FROM inode WHERE object IS NOT NULL", "UPDATE object SET synced=0"],
    "undo-of-text": ["DELETE FROM undo", "INSERT INTO undo SELECT ino, 'x' FROM inode", "UPDATE object SET synced=0"],
    "cut-and-undo": ["UPDATE store SET value=0 WHERE key IN ('clean', 'session')", "DELETE FROM undo",
                     "INSERT INTO undo SELECT ino, {o} FROM inode", "UPDATE object SET synced=0"],
    "cut-in-a-circle": ["UPDATE store SET value=0 WHERE key IN ('clean', 'session')", "UPDATE object SET synced=0",
                        LOOP.format("{c}", 900, "up", "{a}"), "UPDATE object SET size=size+1"],
    "cut-and-live": ["UPDATE store SET value=0 WHERE key IN ('clean', 'session')", "UPDATE object SET synced=0, state=0", "UPDATE inode SET flags=4"],
    "cut-and-names": ["UPDATE store SET value=0 WHERE key IN ('clean', 'session')", "UPDATE object SET synced=0, size=size+1",
                      "UPDATE dirent SET name=X'2F' WHERE ino={f}"],
    "cut-and-parents": ["UPDATE store SET value=0 WHERE key IN ('clean', 'session')", "UPDATE object SET synced=0, size=size+1",
                        "UPDATE dirent SET parent=X''"],
    "all-unlinked": ["UPDATE inode SET nlink=0"],
    "links-without-target": ["UPDATE inode SET target=NULL"],
    "links-huge": ["UPDATE inode SET target=CAST(printf('%.*c', 300000, 't') AS BLOB) WHERE ino={s}"],
    "links-with-nul": ["UPDATE inode SET target=X'610062' WHERE ino={s}"],
    "links-empty": ["UPDATE inode SET target=X'' WHERE ino={s}"],
    "attributes-huge": ["INSERT INTO xattr VALUES({x}, CAST('user.big' AS BLOB), zeroblob(2000000))"],
    "attributes-empty": ["INSERT INTO xattr VALUES({x}, X'', X'')"],
    "attributes-many": ["INSERT INTO xattr WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<20000) SELECT {x}, CAST('user.' || i AS BLOB), '' FROM n"],
    "attributes-with-nul": ["INSERT INTO xattr VALUES({x}, X'7573657200612E', X'00')", "INSERT INTO xattr VALUES({x}, 5, 6)"],
    "sequence-least": ["UPDATE store SET value=2 WHERE key='next_id'"],
    "sequence-largest": [f"UPDATE store SET value={P} WHERE key='next_id'"],
    "sequence-negative": ["UPDATE store SET value=-1 WHERE key='next_id'"],
    "sequence-text": ["UPDATE store SET value='x' WHERE key='next_id'"],
    "values-gone": ["DELETE FROM store"],
    "branches-is-file": ["UPDATE dirent SET ino={f}, type=8 WHERE parent=1 AND name=CAST('branches' AS BLOB)"],
    "runs-is-branches": ["UPDATE dirent SET ino=(SELECT ino FROM dirent WHERE parent=1 AND name=CAST('runs' AS BLOB)) WHERE parent=1 AND name=CAST('branches' AS BLOB)"],
    "steps-largest": ["UPDATE dirent SET name=CAST('checkpoint-9223372036854775807' AS BLOB) WHERE ino={c}"],
    "triggers": ["CREATE TRIGGER t AFTER UPDATE ON inode BEGIN INSERT OR REPLACE INTO undo WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) SELECT i, i FROM n; END"],
    "views": ["DROP TABLE xattr", "CREATE VIEW xattr(ino, name, value) AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) SELECT i, i, i FROM n"],
    "tables-gone": ["DROP TABLE undo"],
    "experiments-of-themselves": ["UPDATE experiment SET parent=id"],
    "experiments-named": ["UPDATE experiment SET hash='../../../../../../../etc' || char(10) || substr(id, 1, 1)"],
    "experiments-no-text": ["UPDATE experiment SET hash=CAST(X'FF00FE' || id AS BLOB), hp=zeroblob(100000), time='x'"],
    "experiments-short": ["UPDATE experiment SET hash=id % 1000"],
    "experiments-gone": ["DELETE FROM experiment"],
    "lines-of-nothing": ["UPDATE line SET run=12345, experiment=67890, version=-1, at=-1"],
    "lines-of-files": ["UPDATE line SET run=(SELECT max(id) FROM tracked WHERE NOT is_dir)"],
    "paths-in-themselves": ["UPDATE tracked SET parent=id WHERE id>1"],
    "paths-in-a-circle": ["UPDATE tracked SET parent=(SELECT max(id) FROM tracked WHERE is_dir) WHERE is_dir AND id>1"],
    "weights-of-nothing": ["UPDATE weights SET n=4294967296, parts=-1, digests=zeroblob(100000), why=CAST(X'FF00FE' AS TEXT)"],
    "weights-held": ["UPDATE holds SET run=id FROM tracked", "UPDATE holds SET held=zeroblob(1000), other=version, step=-5, model='x'"],
    "ledger-of-nothing": ["INSERT INTO ledger VALUES(123456, -1, zeroblob(100000), 7, 99, 'x', zeroblob(200000))",
                          "INSERT INTO ledger SELECT id+200000, run, 'best', 0, id, -1, '{{\"step\": ' FROM tracked",
                          "INSERT INTO ledger SELECT id+400000, run, 'best', 1, id+200000, 0, '[]' FROM tracked"],
    "ledger-selects": ["INSERT INTO ledger SELECT v.id+200000, t.run, 'best', 0, v.id, 1, json_object('step', 'x', 'metric', 5, 'software', json('[1]'), 'capture', json('{{}}')) FROM version v JOIN tracked t ON t.id=v.tracked"],
    "paths-of-one-name": ["UPDATE tracked SET name=X'6100'"],
    "paths-of-no-run": ["UPDATE tracked SET run=-5, role=3"],
}


TABLES = {
    "inode": "ino mode nlink uid gid rdev size blocks atime mtime ctime btime object order flags target begin".split(),
    "dirent": "parent id name ino type class order".split(),
    "xattr": "ino name value".split(),
    "object": "id state size digest seal synced verdict".split(),
    "undo": "inode old".split(),
    "tracked": "id parent name ino run role is_dir n head changed good step rank mode uid gid".split(),
    "version": "id tracked n is_dir object size mode uid gid mtime until gone complete step rank begin experiment".split(),
    "member": "version name object size mode uid gid mtime".split(),
    "moved": ["ino", "ino"],
    "experiment": "id hash hp model data parent time".split(),
    "line": "id run experiment version init_step at flags".split(),
    "due": "version run begin".split(),
    "fact": "object kind value".split(),
    "weights": "object seal n parts why digests".split(),
    "unread": ["version", "version"],
    "holds": "version run step epoch parts model held other".split(),
    "ledger": "id run name kind of time record".split(),
    "segment": "kind text digest".split(),
    "store": "key value".split(),
}
VALUES = ["NULL", "-1", "0", "1", "2", "4", "8", "16877", "33188", "41471", "2147483648", "4294967295", "4294967296", str(2**62), str(P), str(N),
          "1e300", "'x'", "X''", "X'2F'", "X'2E2E'", "X'61'", "X'6100'", "zeroblob(16)", "zeroblob(300)", "zeroblob(100000)"]


def by_chance(rng):
    statements = []
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        table = rng.choice(list(TABLES))
        column = '"' + rng.choice(TABLES[table]) + '"'
        other = '"' + rng.choice(TABLES[table]) + '"'
        table_of_id = rng.choice(("inode", "dirent", "object", "tracked", "version"))
        value = rng.choice(VALUES + [other, f"(SELECT {column} FROM {table} ORDER BY random() LIMIT 1)"] * 6 +
                           [f"(SELECT {TABLES[table_of_id][rng.randrange(2)]} FROM {table_of_id} LIMIT 1 OFFSET {rng.randrange(12)})"] * 6)
        key = TABLES[table][0] if table != "dirent" else "id"
        where = rng.choice((f'WHERE {key}=(SELECT {key} FROM {table} LIMIT 1 OFFSET {rng.randrange(30)})',) * 4 + ("",))
        row = ", ".join(rng.choice((f'"{c}"', rng.choice(VALUES), str(rng.randrange(1, 60)))) for c in TABLES[table])
        statements.append(rng.choice((f"UPDATE OR REPLACE {table} SET {column}={value} {where}",) * 6 +
                                     (f"DELETE FROM {table} {where}", f"INSERT OR REPLACE INTO {table} SELECT {row} FROM {table} {where} LIMIT 20")))
    if rng.random() < 0.3:
        statements.append("UPDATE store SET value=0 WHERE key IN ('clean', 'session')")
    return statements
