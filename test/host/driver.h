/* The host runtime as programs see it, without a compiler: an image of test/unit/images is registered, and
 * entry points are called as no compiler does. Each case is a process of its own, since some are to end it.
 */
#ifndef HOST_DRIVER_H
#define HOST_DRIVER_H

#include "plugin_driver.h"

#include "entry.h"
#include "interop.h"
#include "runtime.h"

/* What the program has: two kernels and a variable. */
enum { DRIVER_SPMD, DRIVER_STORE, DRIVER_ARRAY, DRIVER_ENTRIES };
extern struct driver {
  const char *path; /* of the file with the image; main sets it */
  void *file;
  char *names[2];
  char regions[2]; /* whose addresses stand for the kernels */
  tgt_image_t image;
  tgt_entry13_t entries[DRIVER_ENTRIES];
  tgt_descriptor_t descriptor;
} driver;

/* Reads the image and describes it; and registers it, in the child. */
void driver_read(void);
void driver_begin(void);
void driver_end(void);

/* Runs a part in a child process with the image registered. Returns what waitpid says; `text` gets what was
 * printed to stderr. A part says that it succeeded by coming back. */
enum { DRIVER_TEXT = 16384 };
int driver_in_child(void (*part)(void), char text[DRIVER_TEXT]);
/* The same, where all is to be well. */
void driver_expect_success(void (*part)(void));
/* The same, where offloading is mandatory and the program is to end with these words. */
void driver_expect_failure(void (*part)(void), const char *words);

/* Fails the test with what a child said. */
void driver_fail(int status, const char *words, const char *text);

/* In the child, where cmocka's asserts are not at home. */
#define DRIVER_CHECK(condition) driver_check(condition, #condition, __FILE__, __LINE__)
void driver_check(bool holds, const char *what, const char *file, int line);

/* out[i] += i * 3 + 5 for i < n, on device 0. Returns 0 if it ran there. */
int driver_run(uint64_t n, double *out);
/* Whether it has right results. */
bool driver_runs(void);

#endif
