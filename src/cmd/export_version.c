/* Versions of files, which stay what they are whatever becomes of the path. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "op/reply.h"
#include "util/hex.h"
#include "util/io.h"

json_t *export_versions(struct export_job *j, const char *path)
{
	_cleanup_json_ json_t *args = json_object(), *answer = NULL;

	if (reply_put_path(args, path) < 0 || export_ask(j, "versions", args, &answer) != OP_DONE)
		return NULL;
	return json_incref(json_object_get(answer, "versions"));
}

int export_version_add(struct export *e, const char *path, const json_t *version, char *name)
{
	const char *hex = json_string_value(json_object_get(version, "digest"));
	struct export_unit *u = export_unit(e, name, EXPORT_FILE);
	struct export_file *f = u ? export_file(u) : NULL;

	if (!f)
		return -ENOMEM;
	f->from = (struct supply_ref){ .path = strdup(path), .name = strdup(""), .n = (uint64_t)cmd_number(version, "n"),
				       .object = (uint64_t)cmd_number(version, "object") };
	f->name = strdup("");
	f->size = (uint64_t)cmd_number(version, "size");
	f->mtime = cmd_number(version, "mtime");
	f->mode = (mode_t)cmd_number(version, "mode");
	f->has_digest = hex && hex_bytes(hex, f->digest, DIGEST_SIZE);
	if (asprintf(&f->stamp, "v%lld", (long long)f->mtime) < 0)
		f->stamp = NULL;
	return f->from.path && f->from.name && f->name && f->stamp ? 0 : -ENOMEM;
}

int export_version_open(const struct export_job *j, const char *path, const json_t *version)
{
	struct supply_ref from = { .path = (char *)(uintptr_t)path, .name = (char *)(uintptr_t)"" };
	int fd, r;

	from.n = (uint64_t)cmd_number(version, "n");
	from.object = (uint64_t)cmd_number(version, "object");
	r = supply_open(&j->source, &from, &fd);
	return r < 0 ? r : fd;
}

int export_version_read(const struct export_job *j, const char *path, const json_t *version, size_t max, char **ret)
{
	size_t size = (size_t)cmd_number(version, "size");
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = size <= max ? export_version_open(j, path, version) : -EFBIG;

	if (fd < 0)
		return fd;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;
	if (io_pread(fd, text, size, 0) != (ssize_t)size)
		return -EIO;
	text[size] = 0;
	*ret = steal(&text);
	return 0;
}

int export_text_add(struct export *e, char *text, int64_t mtime, char *name)
{
	struct export_unit *u = export_unit(e, name, EXPORT_FILE);
	struct export_file *f = u ? export_file(u) : NULL;

	if (!f || !text) {
		free(text);
		return -ENOMEM;
	}
	f->from = (struct supply_ref){ .path = strdup(""), .name = strdup(""), .text = text };
	f->name = strdup("");
	f->size = strlen(text);
	f->mtime = mtime;
	f->mode = S_IFREG | 0644;
	f->stamp = strdup("");
	return f->from.path && f->from.name && f->name && f->stamp ? 0 : -ENOMEM;
}
