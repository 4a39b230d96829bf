/* Puts the stamps of dwords side by side: of whole lines by one stamp each, where that says it all. Not here:
 * what is kept of a line (shadow.h), and the loops over dwords (sweep.h). */
#ifndef GFXSIM_CHECK_LINES_H
#define GFXSIM_CHECK_LINES_H

#include "check/shadow.h"
#include "check/sweep.h"

/* As sweep->write (`writes`), or as sweep->read, of the page's dwords from `word` on; its lock is held. The
 * pointers of *stamps are not used. False: some have their stamps, and some may meet others. */
bool gs_lines_put(const gs_sweep_t *sweep, gs_shadow_page_t *page, size_t word,
                  const gs_sweep_stamps_t *stamps, bool writes);

/* Begins to load what there is of the row behind those dwords, which mostly is the next wave's; its last
 * dwords' own stamps, too, if these have some. */
void gs_lines_expect(const gs_shadow_page_t *page, size_t word, size_t count);

#endif
