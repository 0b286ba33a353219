"""multiply.py STORE NAME N: makes of the one checkpoint NAME, which is called step_0.pt, N more, as rows only.

Their names are step_1.pt to step_N.pt, and all have its content. A training takes months for as many.
"""
import sqlite3
import sys

store, run, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
db = sqlite3.connect(store + "/expfs.db")


def value(sql, *args):
    return db.execute(sql, args).fetchone()


def multiply(table, key, of, changed):
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    values = ", ".join(changed.get(c, f'"{c}"') for c in columns)
    db.execute(f"""WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < {n})
                   INSERT INTO {table} SELECT {values} FROM {table}, k WHERE {table}.{key} = {of}""")


top, = value("SELECT t.id FROM tracked t WHERE t.name = ? AND t.is_dir", run.encode())
tracked, ino, head = value("SELECT id, ino, head FROM tracked WHERE parent = ? AND name = ?", top, b"step_0.pt")
first, = value("SELECT value FROM store WHERE key = 'next_id'")
inode, dirent, version, path = (f"{first + k} + 4 * i" for k in range(4))
name = "CAST('step_' || i || '.pt' AS BLOB)"

multiply("inode", "ino", ino, {"ino": inode, "order": version})
multiply("dirent", "ino", ino, {"id": dirent, "ino": inode, "name": name, "order": version})
multiply("tracked", "id", tracked, {"id": path, "name": name, "ino": inode, "head": version, "good": version,
                                    "step": "i", "rank": version})
multiply("version", "id", head, {"id": version, "tracked": path, "step": "i", "rank": version})
db.execute("UPDATE store SET value = ? WHERE key = 'next_id'", (first + 4 * n + 100,))
db.commit()
