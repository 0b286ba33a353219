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

int export_file_add(struct export_unit *u, const char *name, struct supply_ref from, const json_t *facts, char *stamp)
{
	const char *hex = json_string_value(json_object_get(facts, "digest"));
	struct export_file *f = u ? export_file(u) : NULL;

	if (!f) {
		supply_ref_free(&from);
		free(stamp);
		return -ENOMEM;
	}
	f->from = from;
	f->from.object = (uint64_t)cmd_number(facts, "object");
	f->name = strdup(name);
	f->size = (uint64_t)cmd_number(facts, "size");
	f->mtime = cmd_number(facts, "mtime");
	f->mode = (mode_t)cmd_number(facts, "mode");
	f->has_digest = hex && hex_bytes(hex, f->digest, DIGEST_SIZE);
	f->stamp = stamp;
	return f->from.path && f->from.name && f->name && f->stamp ? 0 : -ENOMEM;
}

/* A version never changes. */
char *export_version_stamp(const json_t *facts)
{
	char *stamp;

	return asprintf(&stamp, "v%lld", (long long)cmd_number(facts, "mtime")) < 0 ? NULL : stamp;
}

int export_version_add(struct export *e, const char *path, const json_t *version, char *name)
{
	struct supply_ref from = { .path = strdup(path), .name = strdup(""), .n = (uint64_t)cmd_number(version, "n") };

	return export_file_add(export_unit(e, name, EXPORT_FILE), "", from, version, export_version_stamp(version));
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
	_cleanup_json_ json_t *facts = json_pack("{s:I, s:I, s:i}", "size", (json_int_t)(text ? strlen(text) : 0), "mtime",
						 (json_int_t)mtime, "mode", S_IFREG | 0644);
	struct supply_ref from = { .path = strdup(""), .name = strdup(""), .text = text };
	int r = export_file_add(export_unit(e, name, EXPORT_FILE), "", from, facts, strdup(""));

	return facts && text ? r : -ENOMEM;
}
