/* A finding in words, as lines that begin with the process as valgrind's do. Not here: which findings are
 * told (findings.c). */
#ifndef GFXSIM_CHECK_TEXT_H
#define GFXSIM_CHECK_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "check/findings.h"

enum { GS_TEXT_BYTES = 16384 };

/* Lines. Cut at the end of the room. */
typedef struct gs_text {
  bool plain; /* without the process */
  char bytes[GS_TEXT_BYTES];
  size_t length;
} gs_text_t;

/* Adds a line: "==PID== " and what is given. */
void gs_text_line(gs_text_t *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a line as it is given. */
void gs_text_plain(gs_text_t *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The finding's title with the place of its first side. */
void gs_text_title(const gs_finding_t *finding, char *title, size_t size);
/* Adds the whole block, with an empty line at its end. */
void gs_text_finding(gs_text_t *text, const gs_finding_t *finding, const char *title);

/* Adds the characters to a hash; the first one is added to GS_TEXT_HASH. */
#define GS_TEXT_HASH UINT64_C(14695981039346656037)
uint64_t gs_text_hash(uint64_t hash, const char *text);

#endif
