/* tensors INIT_STEP PATH…: what tensors_read() finds in files, for
 * with_tensors.py. One line for each thing:
 *
 *   file PATH
 *   tensor NAME_IN_HEX SHAPE model|other SHA256 DTYPE
 *   step N, epoch N, structure DIGEST
 *   refused REASON
 *
 * The digest of a tensor is that of its elements in logical order, '-' if it is
 * not located. */
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "format/structure.h"
#include "format/tensor_content.h"
#include "util/io.h"

static void print_hex(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%02x", ((const uint8_t *)p)[i]);
}

static void print_shape(const struct tensor *t)
{
	printf(" [");
	for (unsigned i = 0; i < t->ndim; i++)
		printf("%s%" PRIu64, i ? "," : "", t->shape[i]);
	printf("]");
}

static void print_digest(int fd, const struct tensor *t)
{
	_cleanup_tensor_content_ struct tensor_content *c = NULL;
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	const uint8_t *p;
	uint8_t digest[32];
	ssize_t n;

	if (!md || EVP_DigestInit_ex(md, EVP_sha256(), NULL) != 1 || tensor_content_open(fd, t, &c) < 0)
		exit(3);
	while ((n = tensor_content_next(c, &p)) > 0)
		EVP_DigestUpdate(md, p, (size_t)n);
	if (n < 0)
		exit(3);
	EVP_DigestFinal_ex(md, digest, NULL);
	EVP_MD_CTX_free(md);
	print_hex(digest, sizeof(digest));
}

static int print_file(const char *path, uint64_t init_step)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_tensors_ struct tensors *ts = NULL;
	_cleanup_free_ char *text = NULL;
	uint8_t digest[STRUCTURE_DIGEST_SIZE];
	const char *why;
	struct stat st;
	int r;

	if (fd < 0 || io_stat(fd, &st) < 0)
		return 3;
	printf("file %s\n", path);
	r = tensors_read(fd, (uint64_t)st.st_size, &ts, &why);
	if (r < 0) {
		printf("refused %s\n", why ? why : strerror(-r));
		return 0;
	}
	for (size_t i = 0; i < ts->n; i++) {
		const struct tensor *t = &ts->v[i];

		printf("tensor ");
		print_hex(t->name, t->name_len);
		print_shape(t);
		printf(t->model ? " model " : " other ");
		if (t->located)
			print_digest(fd, t);
		else
			printf("-");
		printf(" %s\n", t->dtype);
	}
	if (ts->has_step)
		printf("step %" PRIu64 "\n", ts->step);
	if (ts->has_epoch)
		printf("epoch %" PRId64 "\n", ts->epoch);
	r = model_structure(ts, init_step, &text, NULL, digest);
	if (r == 0) {
		printf("structure ");
		print_hex(digest, sizeof(digest));
		printf("\n");
	}
	return r == 0 || r == -ENODATA ? 0 : 3;
}

int main(int argc, char **argv)
{
	uint64_t init_step = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	int r = argc < 3 ? 2 : 0;

	for (int i = 2; r == 0 && i < argc; i++)
		r = print_file(argv[i], init_step);
	return r;
}
