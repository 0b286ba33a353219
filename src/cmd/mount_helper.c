/* mount.expfs: what mount(8) runs for -t expfs and for lines of fstab:
 *
 *   mount.expfs SOURCE TARGET [-fnrsvw] [-N NAMESPACE] [-t TYPE] [-o OPTIONS]
 *
 * where -f only pretends. Options that are for mount(8) and systemd alone come
 * along and are left out, and so are those that /proc/mounts shows of every
 * mount, from where lines are copied into fstab; its type, fuse.expfs, leads
 * here by the name mount.fuse.expfs. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "cmd/mount.h"
#include "util/advice.h"
#include "util/log.h"

/* mount(8)'s exit statuses */
#define EX_USAGE 1
#define EX_SYSERR 2
#define EX_FAIL 32

static const char *const not_ours[] = {
	"defaults", "auto",   "noauto", "user",    "nouser", "users",    "nousers", "owner",
	"noowner",  "group",  "nogroup", "nofail", "_netdev", "relatime", "silent",  "loud",
	"default_permissions",
};

/* Those with a value, or with a name that goes on. */
static const char *const not_ours_begin[] = { "x-", "X-", "comment=", "user=", "uhelper=", "helper=", "user_id=", "group_id=", "max_read=" };

static bool is_ours(const char *option)
{
	for (size_t i = 0; i < ARRAY_SIZE(not_ours); i++)
		if (!strcmp(option, not_ours[i]))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(not_ours_begin); i++)
		if (!strncmp(option, not_ours_begin[i], strlen(not_ours_begin[i])))
			return false;
	return true;
}

/* Adds options to list, which has room for them. */
static void add_options(char *list, char *options)
{
	char *save = NULL;

	for (char *o = strtok_r(options, ",", &save); o; o = strtok_r(NULL, ",", &save))
		if (is_ours(o))
			sprintf(list + strlen(list), "%s%s", *list ? "," : "", o);
}

static const struct {
	const char *name;
	unsigned long set, clear;
} kernels[] = {
	{ "ro", MS_RDONLY, 0 },       { "rw", 0, MS_RDONLY },       { "nosuid", MS_NOSUID, 0 }, { "suid", 0, MS_NOSUID },
	{ "nodev", MS_NODEV, 0 },     { "dev", 0, MS_NODEV },       { "noexec", MS_NOEXEC, 0 }, { "exec", 0, MS_NOEXEC },
	{ "noatime", MS_NOATIME, 0 }, { "atime", 0, MS_NOATIME },   { "sync", MS_SYNCHRONOUS, 0 },
	{ "async", 0, MS_SYNCHRONOUS },
};

/* -o remount: a matter of the kernel alone. mount(8) gives all that holds afterwards. */
static int remount(const char *point, char *options)
{
	unsigned long flags = MS_REMOUNT;
	char *save = NULL;

	for (char *o = strtok_r(options, ",", &save); o; o = strtok_r(NULL, ",", &save))
		for (size_t i = 0; i < ARRAY_SIZE(kernels); i++)
			if (!strcmp(o, kernels[i].name))
				flags = (flags | kernels[i].set) & ~kernels[i].clear;
	if (mount(NULL, point, NULL, flags, NULL) == 0)
		return 0;
	log_msg("%s: cannot be remounted: %s", point, advice(-errno));
	return EX_FAIL;
}

static bool has_remount(const char *options)
{
	const char *p = strstr(options, "remount");

	return p && (p == options || p[-1] == ',') && (p[7] == ',' || p[7] == 0);
}

int mount_helper(int argc, char **argv)
{
	_cleanup_free_ char *options = NULL;
	size_t room = 16;
	bool pretend = false;
	int c;

	for (int i = 0; i < argc; i++)
		room += strlen(argv[i]) + 1;
	options = calloc(1, room);
	if (!options)
		return EX_SYSERR;
	while ((c = getopt(argc, argv, ":fnrsvwN:t:o:")) >= 0) {
		if (c == 'f')
			pretend = true;
		else if (c == 'r')
			add_options(options, (char[]){ "ro" });
		else if (c == 'o')
			add_options(options, optarg);
		else if (c == ':' || c == '?') {
			log_msg("mount.expfs: option -%c: not known, or without its value", optopt);
			return EX_USAGE;
		}
	}
	if (argc - optind != 2) {
		log_msg("mount.expfs: a store and a mount point are wanted; see: expfs help mount");
		return EX_USAGE;
	}
	if (pretend)
		return 0;
	if (has_remount(options))
		return remount(argv[optind + 1], options);
	switch (mount_store(argv[optind], argv[optind + 1], options, false)) {
	case OP_DONE:
		return 0;
	case OP_USAGE:
		return EX_USAGE;
	default:
		return EX_FAIL;
	}
}
