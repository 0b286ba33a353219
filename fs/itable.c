/* An open-addressing hash table with linear probing; an entry that goes is
 * filled by shifting those behind it back, so there are no tombstones. */
#include "itable.h"

#include <sys/mman.h>

#define MIN_SIZE 1024
#define UNLINKED (1ull << 63)

struct entry {
	uint64_t ino; /* 0: free */
	uint64_t count; /* and the bit UNLINKED */
};

struct itable {
	pthread_mutex_t lock;
	struct entry *v;
	size_t size; /* a power of two */
	size_t used;
};

/* Memory of its own: in malloc's, each thread that made the table larger would
 * leave a hole of its size in that thread's heap. */
static struct entry *entries_new(size_t size)
{
	void *p = mmap(NULL, size * sizeof(struct entry), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void entries_free(struct entry *v, size_t size)
{
	munmap(v, size * sizeof(*v));
}

int itable_new(struct itable **ret)
{
	struct itable *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->size = MIN_SIZE;
	t->v = entries_new(t->size);
	if (!t->v) {
		free(t);
		return -ENOMEM;
	}
	pthread_mutex_init(&t->lock, NULL);
	*ret = t;
	return 0;
}

void itable_free(struct itable *t)
{
	pthread_mutex_destroy(&t->lock);
	entries_free(t->v, t->size);
	free(t);
}

static size_t home(const struct itable *t, uint64_t ino)
{
	return (ino * 0x9e3779b97f4a7c15u >> 20) & (t->size - 1);
}

static struct entry *find(struct itable *t, uint64_t ino)
{
	size_t i = home(t, ino);

	while (t->v[i].ino && t->v[i].ino != ino)
		i = (i + 1) & (t->size - 1);
	return &t->v[i];
}

static int resize(struct itable *t, size_t size)
{
	struct entry *old = t->v, *v = entries_new(size);
	size_t old_size = t->size;

	if (!v)
		return -ENOMEM;
	t->v = v;
	t->size = size;
	for (size_t i = 0; i < old_size; i++)
		if (old[i].ino)
			*find(t, old[i].ino) = old[i];
	entries_free(old, old_size);
	return 0;
}

int itable_add(struct itable *t, uint64_t ino)
{
	struct entry *e;

	scoped_lock(&t->lock);
	if (t->used * 4 >= t->size * 3 && resize(t, t->size * 2) < 0)
		return -ENOMEM;
	e = find(t, ino);
	if (!e->ino) {
		*e = (struct entry){ .ino = ino };
		t->used++;
	}
	e->count++;
	return 0;
}

static void erase(struct itable *t, size_t hole)
{
	size_t mask = t->size - 1;

	for (size_t i = (hole + 1) & mask; t->v[i].ino; i = (i + 1) & mask) {
		size_t h = home(t, t->v[i].ino);

		if (((i - h) & mask) >= ((i - hole) & mask)) {
			t->v[hole] = t->v[i];
			hole = i;
		}
	}
	t->v[hole].ino = 0;
	t->used--;
	if (t->size > MIN_SIZE && t->used * 8 < t->size)
		resize(t, t->size / 2); /* without memory it stays large */
}

bool itable_forget(struct itable *t, uint64_t ino, uint64_t n)
{
	struct entry *e;
	bool unlinked;

	scoped_lock(&t->lock);
	e = find(t, ino);
	if (!e->ino)
		return false;
	unlinked = e->count & UNLINKED;
	if ((e->count & ~UNLINKED) > n) {
		e->count -= n;
		return false;
	}
	erase(t, (size_t)(e - t->v));
	return unlinked;
}

bool itable_known(struct itable *t, uint64_t ino)
{
	scoped_lock(&t->lock);
	return find(t, ino)->ino != 0;
}

bool itable_mark_unlinked(struct itable *t, uint64_t ino)
{
	struct entry *e;

	scoped_lock(&t->lock);
	e = find(t, ino);
	if (!e->ino)
		return false;
	e->count |= UNLINKED;
	return true;
}
