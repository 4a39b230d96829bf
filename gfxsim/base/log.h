/* Messages of gfxsim to the person running it, on stderr.
 * Not here: traces and statistics, which have files of their own. */
#ifndef GFXSIM_BASE_LOG_H
#define GFXSIM_BASE_LOG_H

#include <stdarg.h>

/* Prints "gfxsim: " and the formatted text as one line, with a single write so that lines of several threads
 * never mix. Thread-safe; keeps errno. The text carries no newline of its own and is cut at 2000 bytes. */
void gs_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As gs_log, but prints only the first time that `*once` is found zero (set it to zero at start). */
void gs_log_once(_Atomic int *once, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
