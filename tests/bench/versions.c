/* The libraries that the measured program runs with. */
#include <fuse_lowlevel.h>
#include <sqlite3.h>
#include <stdio.h>

int main(void)
{
	printf("libfuse %s, SQLite %s\n", fuse_pkgversion(), sqlite3_libversion());
	return 0;
}
