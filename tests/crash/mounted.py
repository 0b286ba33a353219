"""A store and its mount."""
import os
import subprocess
import time

import processes


class Mount:
    def __init__(self, program, directory):
        self.program = program
        self.store, self.point = os.path.join(directory, "store"), os.path.join(directory, "mnt")
        os.mkdir(self.point)
        self.command("init", self.store)

    def command(self, *args):
        r = subprocess.run([self.program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
        if r.returncode != 0:
            raise SystemExit("expfs %s: exit %d: %s" % (" ".join(args), r.returncode, r.stdout))

    def mount(self):
        self.command("mount", self.store, self.point)

    def unmount_and_check(self):
        for seconds in (0.1, 0.3, 1):  # something that looks at all mounts can be in this one for a moment
            if subprocess.run([self.program, "umount", self.point], stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0:
                break
            time.sleep(seconds)
        else:
            self.command("umount", self.point)
        self.command("fsck", self.store)

    def daemons(self):
        return processes.daemons(self.program, self.store)

    def kill(self):
        processes.kill_daemons(self.program, self.store)

    def killed_mount(self, delay):
        """A mount that is killed while it recovers."""
        p = subprocess.Popen([self.program, "mount", self.store, self.point], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        self.kill()
        p.wait()

    def clean_up(self):
        if os.path.ismount(self.point) or any(self.point in line for line in open("/proc/self/mountinfo")):
            subprocess.run(["fusermount3", "-uz", self.point], check=False)
        self.kill()
