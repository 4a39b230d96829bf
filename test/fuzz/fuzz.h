/* What a fuzz target has: the entry point that libFuzzer calls, too, and the shape of its inputs. The driver
 * (driver.c) makes inputs by mutation and needs no compiler support. Not here: what the targets check. */
#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Takes one input. Aborts when something is wrong, or leaves that to a sanitizer. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fills data[0..capacity) with a valid input for mutation when no files are given, and returns its size;
 * `number` counts up, so that there may be several. Each target defines it. */
size_t fuzz_seed(unsigned number, uint8_t *data, size_t capacity);

/* Aborts, having said what was wrong. */
#define FUZZ_CHECK(condition) ((condition) ? (void)0 : fuzz_failed(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_failed(const char *file, int line, const char *what);

#endif
