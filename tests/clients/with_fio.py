"""fio: written blocks carry their checksum and place, and are verified, again after a remount."""

from client import after_remount, main, run, test

COMMON = ("--verify=crc32c", "--verify_fatal=1", "--verify_dump=0", "--randrepeat=1", "--size=64m",
          "--verify_state_save=0", "--unlink=0", "--fallocate=none", "--group_reporting", "--minimal")

JOBS = {
    "written in sequence": ("--rw=write", "--bsrange=4k-1m"),
    "of odd sizes at odd offsets": ("--rw=randwrite", "--bsrange=512-64k", "--bs_unaligned=1"),
    "written at random with a sync after each 32": ("--rw=randwrite", "--bs=4k", "--size=8m", "--fsync=32"),
    "written at random by four processes, each in its file":
        ("--rw=randwrite", "--bs=16k", "--numjobs=4", "--size=16m"),
    "written through a shared mapping": ("--ioengine=mmap", "--rw=randwrite", "--bs=4k", "--size=32m"),
    "written through a shared mapping with msync":
        ("--ioengine=mmap", "--rw=write", "--bs=64k", "--fsync=16", "--size=32m"),
    "written with O_DIRECT": ("--direct=1", "--rw=randwrite", "--bs=4k", "--size=16m"),
    "written with O_DIRECT, 16 at a time":
        ("--ioengine=libaio", "--direct=1", "--iodepth=16", "--rw=randwrite", "--bs=16k"),
    "written by POSIX aio": ("--ioengine=posixaio", "--iodepth=8", "--rw=randwrite", "--bs=8k", "--size=16m"),
    "written by vectors": ("--ioengine=pvsync", "--rw=randwrite", "--bs=32k"),
    "written over a file that was allocated before":
        ("--rw=randwrite", "--bs=64k", "--fallocate=posix", "--overwrite=0"),
}


def fio(top, number, options):
    directory = top / f"job-{number}"
    directory.mkdir(exist_ok=True)
    run("fio", f"--name=job-{number}", f"--directory={directory}", "--ioengine=psync", *COMMON, *options)


def register(number, sentence, options):
    @test(f"blocks {sentence} verify")
    def written(top):
        fio(top, number, options)

    @after_remount(f"blocks {sentence} still verify")
    def remounted(top):
        fio(top, number, (*options, "--verify_only"))


for number, (sentence, options) in enumerate(JOBS.items()):
    register(number, sentence, options)


if __name__ == "__main__":
    main()
