#!/usr/bin/python3
"""Makes the store's disk fail at each point of each operation and checks what comes of it.

usage: faulter.py --expfs PROGRAM --dir DIR [--each N] [--only OPERATION[,OPERATION...]] [--case KIND,N]

PROGRAM was configured with --enable-fault-injection. DIR is an empty directory: stores, the mount point and the
plan of faults (src/util/fault.h) are made in it.

Each operation is run with its first call to the disk failing, then with its second …, until it passes
untouched: with EIO, ENOSPC and EDQUOT, each for one call and for all from then on (but a full disk still syncs),
and with calls that transfer less than they were asked for. After each:

  - the error reached the caller with its errno, or the operation did what it was to do;
  - the operation's own files are in one of their legal states, and in the same one after a remount;
  - nothing else has changed;
  - the mount serves on; or a sync has failed, and it is read-only, says so in status and in the log, and claims no
    success of a later sync;
  - a remount works, and fsck finds nothing after it.

--each N tries N of these cases of each operation, spread over all of them. --only names the operations; --case
runs one case: KIND as the report names it ("EIO once"), N the point.

Exit status: 0 all as promised, 1 not (each fault is printed), 2 wrong usage.
"""
import argparse
import errno
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from fault_case import Bad, Bench, Case
import fault_files  # which fill the list
import fault_store
from fault_operation import OPERATIONS

MANY = 1 << 30
KINDS = [(name + mode, number, mode == " always")
         for name, number in (("EIO", errno.EIO), ("ENOSPC", errno.ENOSPC), ("EDQUOT", errno.EDQUOT))
         for mode in (" once", " always")] + [("short once", 0, False), ("short always", 0, True)]


class Row:
    """A line of the table."""

    HEAD = ("operation", "points", "cases", "failed", "survived", "read-only", "bad")

    def __init__(self, name):
        self.name, self.points = name, 0
        self.cases = self.failed = self.survived = self.read_only = self.bad = 0

    def cells(self):
        return (self.name, self.points, self.cases, self.failed, self.survived, self.read_only, self.bad)

    def add(self, case):
        self.cases += 1
        self.failed += case.error is not None
        self.survived += case.error is None and not case.read_only
        self.read_only += case.read_only


def run_case(bench, op, row, kind, number, forever, n):
    case = Case(bench, kind, number, forever, n)
    try:
        case.run(op)
    except Bad as e:
        row.bad += 1
        print("%s: %s at %d (%s)%s: %s" % (op.name, kind, n, case.where or "no fault",
                                           " ended with %s," % case.error if case.error else "", e), flush=True)
    if case.hits:
        row.add(case)
    return case


def all_cases(bench, op, row):
    for kind, number, forever in KINDS:
        n, missed = 1, 0
        while missed < 2:  # threads: a case may be passed by once
            missed = 0 if run_case(bench, op, row, kind, number, forever, n).hits else missed + 1
            row.points = max(row.points, n if not missed else 0)
            n += 1


def some_cases(bench, op, row, each):
    """Counts the points in a run without faults, and spreads the cases over them."""
    points = {}
    for short in (False, True):
        probe = run_case(bench, op, row, "none", 0 if short else errno.EIO, False, MANY)
        points[short] = MANY - probe.left
    row.points = points[False]
    cases = [(kind, number, forever, n) for n in range(1, row.points + 1) for kind, number, forever in KINDS
             if n <= points[number == 0]]
    count = min(each, len(cases))
    for i in range(count):
        run_case(bench, op, row, *cases[(2 * i + 1) * len(cases) // (2 * count)])


def print_line(cells):
    print("%-26s" % cells[0] + "".join("%11s" % cell for cell in cells[1:]), flush=True)


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--expfs", required=True)
    p.add_argument("--dir", required=True)
    p.add_argument("--each", type=int)
    p.add_argument("--only")
    p.add_argument("--case")
    args = p.parse_args()
    args.expfs = os.path.realpath(args.expfs)
    ops = OPERATIONS
    if args.only:
        ops = [op for op in OPERATIONS if op.name in args.only.split(",")]
        if len(ops) != len(args.only.split(",")):
            p.error("--only: operations are: %s" % ", ".join(op.name for op in OPERATIONS))
    if "fault injection" not in subprocess.run([args.expfs, "version"], stdout=subprocess.PIPE, text=True).stdout:
        p.error("%s was not configured with --enable-fault-injection" % args.expfs)
    bench = Bench(args.expfs, os.path.realpath(args.dir))
    rows = []
    print_line(Row.HEAD)
    for op in ops:
        row = Row(op.name)
        if args.case:
            kind, n = args.case.split(",")
            run_case(bench, op, row, *next(k for k in KINDS if k[0] == kind), int(n))
        elif args.each:
            some_cases(bench, op, row, args.each)
        else:
            all_cases(bench, op, row)
        print_line(row.cells())
        rows.append(row.cells())
    print_line(("all", *(sum(row[i] for row in rows) for i in range(1, len(Row.HEAD)))))
    sys.exit(1 if any(row[-1] for row in rows) else 0)


main()
