#include "util/advice.h"

#include <string.h>

#include "util/util.h"

const char *advice(int r)
{
	switch (-r) {
	case EACCES:
	case EPERM:
		return "Permission denied; do it as the owner of the store, or as root";
	case ECANCELED:
		return "given up, because the store is being unmounted; do it again";
	case EDQUOT:
		return "Disk quota exceeded; make room on the disk of the store, or have the quota raised";
	case EIO:
		return "Input/output error; see the log in the store, and dmesg for what the disk says";
	case EMFILE:
	case ENFILE:
		return "Too many open files; raise the limit (ulimit -n)";
	case ENAMETOOLONG:
		return "File name too long; choose a shorter one";
	case ENOENT:
		return "No such file or directory; look for another spelling";
	case ENOMEM:
		return "memory is short; end what needs much of it, and do it again";
	case ENOSPC:
		return "No space left on device; make room on the disk of the store";
	case ENOTDIR:
		return "Not a directory; look for another spelling";
	case EROFS:
		return "Read-only file system; expfs status says why";
	case ESTALE:
		return "changed meanwhile; do it again";
	case EUCLEAN:
		return "the database is damaged; unmount the store, then: expfs fsck STORE";
	default:
		return strerror(-r);
	}
}
