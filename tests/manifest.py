# A manifest that is rewritten in place again and again, as WeightsLab does, while others read it.
#
#   python3 manifest.py PATH SECONDS
#
# Fails if anybody ever sees another size or content than one that was whole, or the writer after its close
# anything but what it wrote.
import multiprocessing
import os
import sys
import time

path, seconds = sys.argv[1], float(sys.argv[2])


def text(n):
    hashes = "".join("  %024x: {created: '2026-11-30T01:02:03'}\n" % i for i in range(n))
    return ("experiments:\n%slatest_hash: %024x\nlast_updated: '2026'\n" % (hashes, n)).encode()


WHOLE = {len(text(n)): text(n) for n in range(1, 120)}


def write(stop):
    n = 0
    while n < 100 or not stop.is_set():
        n += 1
        want = text(1 + n * 37 % 119)
        third = len(want) // 3
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for part in want[:third], want[third:2 * third], want[2 * third:]:
            os.write(fd, part)
        os.close(fd)
        assert os.stat(path).st_size == len(want), "the size after the close is not the new one"
        assert open(path, "rb").read() == want, "the content after the close is not the new one"


def read(stop):
    while not stop.is_set():
        size = os.stat(path).st_size
        assert size in WHOLE, "size %d" % size
        sizes = [e.stat().st_size for e in os.scandir(os.path.dirname(path)) if e.path == path]
        assert len(sizes) == 1 and sizes[0] in WHOLE, "sizes %s in the directory" % sizes
        with open(path, "rb") as f:
            got = f.read()
        assert WHOLE.get(len(got)) == got, "%d bytes: %r" % (len(got), got[:80])


open(path, "wb").write(text(1))
end = multiprocessing.Event()
all_of_them = [multiprocessing.Process(target=f, args=(end,)) for f in [write] + [read] * 6]
for p in all_of_them:
    p.start()
time.sleep(seconds)
end.set()
for p in all_of_them:
    p.join()
sys.exit(any(p.exitcode for p in all_of_them))
