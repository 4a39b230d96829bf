/* What a program's host side asks of the core, in types of the core: its images with their entries, and
 * launches. Whoever stands above translates what its callers pass. Types only. */
#ifndef ATMI_OPENMP_REQUEST_H
#define ATMI_OPENMP_REQUEST_H

#include <stddef.h>
#include <stdint.h>

/* ---- images ---- */

/* A device image as the program carries it, raw or wrapped (image/embedded). */
typedef struct atmi_image_bytes {
  const void *begin, *end;
} atmi_image_bytes_t;

/* One global variable or kernel of a program: the host's, or the device's of the same name. */
typedef struct atmi_entry {
  void *address; /* of the variable on its side; the host's of a kernel stands for it, the device's is its
                    atmi_omp_kernel_t */
  const char *name;
  uint64_t size;  /* 0: a kernel */
  uint32_t flags; /* ATMI_ENTRY_ bits, and others that mean nothing here */
} atmi_entry_t;

/* As compilers number them. */
enum {
  ATMI_ENTRY_CTOR = 2,     /* a kernel to run once after loading [clang 13-17] */
  ATMI_ENTRY_DTOR = 4,     /* a kernel to run once before unloading [13-17] */
  ATMI_ENTRY_INDIRECT = 8, /* a function that is called by its host address [18-] */
  ATMI_ENTRY_VTABLE = 32,  /* a class's table of virtual functions [22-] */
};

/* Rows of an entry in the table for calls by host addresses: one of a function, one for each word of a
 * class's table of virtual functions, 0 of anything else. The device's variable of that name points to the
 * device's function or table. */
static inline uint64_t atmi_entry_indirect_rows(const atmi_entry_t *entry) {
  if (entry->flags & ATMI_ENTRY_VTABLE)
    return entry->size / sizeof(void *);
  return entry->flags & ATMI_ENTRY_INDIRECT && entry->size == sizeof(void *);
}

/* An image to load. All of it stays the caller's; names must live as long as the image is loaded. */
typedef struct atmi_image_request {
  const void *library; /* stands for the executable or shared library that holds the image */
  atmi_image_bytes_t image;
  const atmi_entry_t *entries; /* the host's */
  size_t entry_count;
} atmi_image_request_t;

/* ---- launches ---- */

struct atmi_plan_key;

/* A launch as the program states it: 0 and 1 both stand for no more than one in the dimensions y and z. */
typedef struct atmi_omp_request {
  void *const *arguments; /* argument i is the word (char *)arguments[i] + offsets[i] itself */
  const ptrdiff_t *offsets;
  const struct atmi_plan_key *key; /* what tells it from others; NULL: kernel and shape do */
  struct atmi_omp_shape {          /* no padding: compared as a whole */
    uint64_t tripcount;            /* 0: unknown */
    int32_t num_teams;             /* 0 or less: no clause */
    uint32_t more_teams[2];        /* teams in the dimensions y and z; 0: one */
    int32_t thread_limit;          /* 0 or less: no clause */
    uint32_t more_threads[2];      /* threads of a team in the dimensions y and z; 0: one */
    uint32_t argument_count;
    uint32_t dynamic_lds_bytes;
  } shape;
} atmi_omp_request_t;

/* A shape word by word, without making one in memory: for a look at whether a launch has been seen before. */
enum { ATMI_OMP_SHAPE_WORDS = sizeof(struct atmi_omp_shape) / sizeof(uint64_t) };
typedef struct atmi_omp_words {
  uint64_t word[ATMI_OMP_SHAPE_WORDS];
} atmi_omp_words_t;

#endif
