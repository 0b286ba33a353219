/* A shim: each file is one of ours with the real one behind it. What fails does so as the
 * real VFS reports it, with errno for sqlite3_system_errno(). A write that falls short
 * leaves its first part in the file and the disk full. */
#include "meta/fault_vfs.h"

#include <sqlite3.h>

#include "util/fault.h"

static sqlite3_vfs *real_vfs;

static sqlite3_file *real(sqlite3_file *f)
{
	return f + 1;
}

static int file_close(sqlite3_file *f)
{
	return real(f)->pMethods->xClose(real(f));
}

static int file_read(sqlite3_file *f, void *buf, int n, sqlite3_int64 off)
{
	return fault(FAULT_DATABASE, "database xRead") ? SQLITE_IOERR_READ : real(f)->pMethods->xRead(real(f), buf, n, off);
}

static int file_write(sqlite3_file *f, const void *buf, int n, sqlite3_int64 off)
{
	size_t part = (size_t)n;
	int rc;

	if (fault_count(FAULT_DATABASE, "database xWrite", &part))
		return errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
	rc = real(f)->pMethods->xWrite(real(f), buf, (int)part, off);
	return rc == SQLITE_OK && part < (size_t)n ? SQLITE_FULL : rc;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return fault(FAULT_DATABASE, "database xTruncate") ? SQLITE_IOERR_TRUNCATE : real(f)->pMethods->xTruncate(real(f), size);
}

static int file_sync(sqlite3_file *f, int flags)
{
	return fault(FAULT_SYNC, "database xSync") ? SQLITE_IOERR_FSYNC : real(f)->pMethods->xSync(real(f), flags);
}

static int file_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	return fault(FAULT_DATABASE, "database xFileSize") ? SQLITE_IOERR_FSTAT : real(f)->pMethods->xFileSize(real(f), ret);
}

static int file_lock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xLock(real(f), level);
}

static int file_unlock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xUnlock(real(f), level);
}

static int file_check_lock(sqlite3_file *f, int *ret)
{
	return real(f)->pMethods->xCheckReservedLock(real(f), ret);
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
	if (op == SQLITE_FCNTL_SIZE_HINT && fault(FAULT_DATABASE, "database xFileControl"))
		return errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
	return real(f)->pMethods->xFileControl(real(f), op, arg);
}

static int file_sector_size(sqlite3_file *f)
{
	return real(f)->pMethods->xSectorSize(real(f));
}

static int file_characteristics(sqlite3_file *f)
{
	return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static int file_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
	if (fault(FAULT_DATABASE, "database xShmMap"))
		return SQLITE_IOERR_SHMMAP;
	return real(f)->pMethods->xShmMap(real(f), page, size, extend, ret);
}

static int file_shm_lock(sqlite3_file *f, int off, int n, int flags)
{
	return real(f)->pMethods->xShmLock(real(f), off, n, flags);
}

static void file_shm_barrier(sqlite3_file *f)
{
	real(f)->pMethods->xShmBarrier(real(f));
}

static int file_shm_unmap(sqlite3_file *f, int delete)
{
	return real(f)->pMethods->xShmUnmap(real(f), delete);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_check_lock,
	.xFileControl = file_control,
	.xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_characteristics,
	.xShmMap = file_shm_map,
	.xShmLock = file_shm_lock,
	.xShmBarrier = file_shm_barrier,
	.xShmUnmap = file_shm_unmap,
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *ret_flags)
{
	int rc;

	f->pMethods = NULL;
	if (fault(FAULT_DATABASE, "database xOpen"))
		return SQLITE_CANTOPEN;
	rc = real_vfs->xOpen(real_vfs, name, real(f), flags, ret_flags);
	if (rc == SQLITE_OK)
		f->pMethods = &methods;
	return rc;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	return fault(FAULT_DATABASE, "database xDelete") ? SQLITE_IOERR_DELETE : real_vfs->xDelete(real_vfs, name, sync);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
	return fault(FAULT_DATABASE, "database xAccess") ? SQLITE_IOERR_ACCESS : real_vfs->xAccess(real_vfs, name, flags, ret);
}

static void make_vfs(void)
{
	static sqlite3_vfs vfs;

	real_vfs = sqlite3_vfs_find(DB_VFS);
	if (!real_vfs)
		return;
	vfs = *real_vfs;
	vfs.zName = "fault";
	vfs.szOsFile += (int)sizeof(sqlite3_file);
	vfs.xOpen = vfs_open;
	vfs.xDelete = vfs_delete;
	vfs.xAccess = vfs_access;
	sqlite3_vfs_register(&vfs, 0);
}

const char *fault_vfs(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_vfs);
	return "fault";
}
