/* What the plugin's unit tests share: cmocka with the headers it forgets to include, and catching what is
 * printed. */
#ifndef PLUGIN_TEST_H
#define PLUGIN_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Between these two, what the process writes to stderr is collected; end returns it, at most `bytes` - 1 of
 * it. */
void test_capture_begin(void);
void test_capture_end(char *text, size_t bytes);

/* A whole file, malloc'ed; fails the test if it cannot be read. */
void *test_read_file(const char *path, size_t *bytes);

/* The first AMDGPU image in an executable or object file, found by its ELF header wherever it is embedded. */
const void *test_find_image(const void *file, size_t bytes, size_t *image_bytes);

/* Fills the section of this name of an ELF file with one byte; fails the test if it has no such section. */
void test_fill_section(void *file, size_t bytes, const char *name, unsigned char value);

#endif
