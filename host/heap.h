/* The program's calls by which memory of the host goes (free, realloc, munmap), and comes (malloc and its
 * like), seen for lint and for a checker. Not here: what they make of it. */
#ifndef TGT_HEAP_H
#define TGT_HEAP_H

/* Has what is loaded by now call us, if there is anybody who wants to know. When a library was registered. */
void tgt_heap_watch(void);

#endif
