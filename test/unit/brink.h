/* Memory with nothing behind it, for tests of what reads too far. By itself: the names of <sys/mman.h> are
 * also those of map types. */
#ifndef TEST_BRINK_H
#define TEST_BRINK_H

/* The first address behind `pages` pages of 4096 bytes of zeros; at it, and as many pages on, there is no
 * memory. NULL if that cannot be had. */
char *test_brink(unsigned pages);

#endif
