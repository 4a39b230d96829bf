/* Names for a checker of memory accesses below the program, as gfxsim's is: it knows memory by addresses, and
 * this library what is mapped there. Not here: what is checked. */
#ifndef TGT_CHECKER_H
#define TGT_CHECKER_H

#include "mapping/note.h"

#include <stdbool.h>

/* Looks whether there is a checker that wants names. When the devices are found, under no lock. */
void tgt_checker_find(void);
bool tgt_checker_is_there(void);

/* Tells it of a new entry; of other notes nothing. Thread-safe. */
void tgt_checker_hear(const map_note_t *note);

#endif
