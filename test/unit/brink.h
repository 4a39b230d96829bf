/* Memory with nothing behind it, for tests of what reads too far, and of what was freed. By itself: the names
 * of <sys/mman.h> are also those of map types. */
#ifndef TEST_BRINK_H
#define TEST_BRINK_H

#include <stdbool.h>
#include <stddef.h>

/* Zeros, in whole pages, far from where the kernel looks for room: when they are unmapped nothing else comes
 * there. NULL if that cannot be had. Not thread-safe. */
void *test_remote(size_t bytes);
/* Unmaps them. 0 on success. */
int test_remote_free(void *memory, size_t bytes);

/* Takes away the right to write them, or any. 0 on success. */
int test_remote_close(void *memory, size_t bytes, bool may_read);

/* The first address behind `pages` pages of 4096 bytes of zeros; at it, and as many pages on, there is no
 * memory. As test_remote. */
char *test_brink(unsigned pages);

#endif
