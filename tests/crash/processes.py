"""Processes: those of a load, and the daemons of a store."""
import os
import signal
import sys
import time
import traceback


def start(f, *args, ends=(), tell=None):
    """Runs f(*args) in a process of its own, which ends well with an error of the kinds ENDS, too; TELL is given that."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        f(*args)
        status = 0
    except ends as e:
        if tell:
            tell(e)
        status = 0
    except Exception:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def wait(pid, seconds=300):
    """The exit status; one that hangs is killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    print("a process hangs", file=sys.stderr)
    return None


def is_gone(pid):
    """The first thread is a zombie as soon as it has ended, the files are closed with the last one."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] in "ZX" and len(os.listdir("/proc/%d/task" % pid)) == 1
    except OSError:
        return True


def daemons(program, store):
    """Those of the program that have the store among their arguments."""
    real, pids = os.path.realpath(program), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                if os.readlink("/proc/%s/exe" % pid) == real and os.fsencode(store) in f.read().split(b"\0"):
                    pids.append(int(pid))
        except OSError:
            pass
    return pids


def kill_daemons(program, store, seconds=300):
    """Kills all of them and waits until they hold nothing any more."""
    end, killed = time.monotonic() + seconds, set()
    while True:
        pids = daemons(program, store)  # anew each time: a mount that starts may have forked meanwhile
        killed.update(pids)
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not pids and all(map(is_gone, killed)):
            return
        if time.monotonic() > end:
            raise SystemExit("processes %s do not die" % killed)
        time.sleep(0.002)
