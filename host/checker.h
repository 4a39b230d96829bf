/* What a checker of memory accesses below the program wants to know, as gfxsim's is: it knows memory by
 * addresses, and this library what is mapped there, and what is copied for it. Not here: what is checked. */
#ifndef TGT_CHECKER_H
#define TGT_CHECKER_H

#include "mapping/note.h"

#include <stdbool.h>

/* Looks whether there is a checker that wants to know. When the devices are found, under no lock. */
void tgt_checker_find(void);
bool tgt_checker_is_there(void);

/* Tells it that this thread now works for code that returns to `code`, NULL: no longer. Nothing if there is
 * none. */
void tgt_checker_caller(const void *code);

/* Tells it of new entries, their copies and ends, and of regions that use them. Thread-safe. */
void tgt_checker_hear(const map_note_t *note);

/* This thread has copied, or is about to wait for that, from the device to the host. */
void tgt_checker_brought(uint64_t device, uint64_t host, uint64_t bytes);

/* A variable of an image that was loaded: any region may access it. */
void tgt_checker_loaded(const void *host, void *device, uint64_t bytes, const char *name);

/* A copy of mapped data at `memory` of a device, to it (`is_sent`) or from it, could not begin. */
void tgt_checker_failed(const void *memory, uint64_t bytes, bool is_sent);

/* A call at `code` frees host memory, or has; or it has got some. What is not mapped it is not told of.
 * Thread-safe. */
void tgt_checker_host_freed(const void *memory, uint64_t bytes, const void *code);
void tgt_checker_host_taken(const void *memory, uint64_t bytes, const void *code);

/* The program cannot free `memory`, which is not the device's. */
void tgt_checker_refused(const void *memory);
/* A region is about to start; and this thread is about to return to the program. */
void tgt_checker_region(void);
void tgt_checker_returns(void);

#endif
