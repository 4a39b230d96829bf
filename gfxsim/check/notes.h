/* What others in the process tell gfxsim's checker: which memory the program has, byte for byte, and what it
 * is called. The functions are exported by the two libraries that have a machine, gfxsim's libhsakmt.so.1 and
 * libgfxsim-kfd.so; whoever has something to tell opens them with RTLD_NOLOAD, the second first, and looks
 * for the functions once (dlsym), and is silent where there are none. All are thread-safe, copy what they are
 * given, and do nothing when nothing is checked. Not here: what is checked.
 */
#ifndef GFXSIM_CHECK_NOTES_H
#define GFXSIM_CHECK_NOTES_H

#include <stdint.h>

/* Where in the host program something happened: return addresses, innermost first. */
enum { GFXSIM_STACK_DEPTH = 12 };
typedef struct gfxsim_stack {
  uint32_t depth;
  uint64_t frame[GFXSIM_STACK_DEPTH];
} gfxsim_stack_t;

/* A block of `bytes` begins at `address` (as devices see it), by a call of the HSA function `call`, whose
 * text is kept. The pages that the block does not fill are nobody's. */
#define GFXSIM_NOTE_ALLOCATE "gfxsim_note_allocate"
typedef void gfxsim_note_allocate_t(uint64_t address, uint64_t bytes, const char *call,
                                    const gfxsim_stack_t *stack);
/* The block at `address` is the program's no longer. To be called before its memory goes, which may be
 * later. */
#define GFXSIM_NOTE_FREE "gfxsim_note_free"
typedef void gfxsim_note_free_t(uint64_t address, const gfxsim_stack_t *stack);
/* The program wanted to free what is at `address`, where it has no block, and that was refused. `stack`
 * may be NULL. */
#define GFXSIM_NOTE_REFUSED "gfxsim_note_refused"
typedef void gfxsim_note_refused_t(uint64_t address, const gfxsim_stack_t *stack);
/* [address, address + bytes), a block or a part of one, is the device's copy of `name` (NULL: not known),
 * which lies at `host` and is declared at `file`:`line` (NULL: not known). Ends with the block. */
#define GFXSIM_NOTE_MAP "gfxsim_note_map"
typedef void gfxsim_note_map_t(uint64_t address, uint64_t bytes, const char *name, const char *file,
                               uint32_t line, uint64_t host);

/* The same, of what a construct names that is mapped already, all of it or as a part of something else. */
#define GFXSIM_NOTE_FOUND "gfxsim_note_found"
typedef gfxsim_note_map_t gfxsim_note_found_t;

/* What happens to mapped data, of which gfxsim_note_map has told, or to a part: bytes from `address` on. */
typedef enum gfxsim_mapping {
  GFXSIM_MAPPING_SENT, /* a copy from the host's variable was begun; on the host its bytes are as they were */
  GFXSIM_MAPPING_WANTED, /* a copy to the host's variable was begun */
  GFXSIM_MAPPING_USED,   /* a region that may access it is about to start, and names these bytes of it; 0: any
                          */
  GFXSIM_MAPPING_ENDS,   /* all of it: copies are over, its memory is about to be given back */
  GFXSIM_MAPPING_LOADED, /* it is a variable of an image that was loaded: on the device it is as the image has
                            it, and any region may access it */
  GFXSIM_MAPPING_REGION, /* of no address: a region is about to start */
} gfxsim_mapping_t;
#define GFXSIM_NOTE_MAPPING "gfxsim_note_mapping"
typedef void gfxsim_note_mapping_t(uint32_t what, uint64_t address, uint64_t bytes); /* GFXSIM_MAPPING_ */

/* The bytes of mapped data at `address` have come to the host's variable at `host`. */
#define GFXSIM_NOTE_BROUGHT "gfxsim_note_brought"
typedef void gfxsim_note_brought_t(uint64_t address, uint64_t host, uint64_t bytes);
/* What has become of the host's memory: `bytes` at `address`, of which some are, or were, mapped. `code`:
 * where the program's call of free, or malloc, returns to. */
typedef enum gfxsim_host {
  GFXSIM_HOST_FREED, /* or is about to be */
  GFXSIM_HOST_TAKEN, /* it is a new block */
} gfxsim_host_t;
#define GFXSIM_NOTE_HOST "gfxsim_note_host"
typedef void gfxsim_note_host_t(uint32_t what, uint64_t address, uint64_t bytes, uint64_t code);

/* The calling thread is about to return to the program, from the library that has its code around `code`. To
 * be called last. What the program then does with its copies of mapped data is looked at for a while. */
#define GFXSIM_NOTE_RETURNS "gfxsim_note_returns"
typedef void gfxsim_note_returns_t(uint64_t code);

/* A copy, or a fill where there is nothing to copy from, that is about to begin: rows of `width` bytes, so
 * many in a slice and so many slices, with the bytes from one to the next. Addresses as the device sees them,
 * or as the host does. */
typedef struct gfxsim_copy {
  uint64_t to, to_pitch, to_slice;
  uint64_t from, from_pitch, from_slice; /* from: 0 = a fill */
  uint64_t width, height, depth;
  int any_host_memory; /* who copies reaches what the host reaches, also what is not locked */
} gfxsim_copy_t;
#define GFXSIM_NOTE_COPY "gfxsim_note_copy"
typedef void gfxsim_note_copy_t(const gfxsim_copy_t *copy, const char *call, const gfxsim_stack_t *stack);

/* Of all GPUs only those with their bits (1 << node) in `nodes`, and the one whose memory it is, may access
 * the block at `address` from now on. To be called before it is so. */
#define GFXSIM_NOTE_ACCESS "gfxsim_note_access"
typedef void gfxsim_note_access_t(uint64_t address, uint64_t nodes, const gfxsim_stack_t *stack);

/* What the calling thread allocates, frees and maps from now on, and the copies that it makes for what is
 * mapped, are asked for by code that returns to `address`; 0: that is over. For runtimes without unwind
 * tables, behind which nobody finds who called. */
#define GFXSIM_NOTE_CALLER "gfxsim_note_caller"
typedef void gfxsim_note_caller_t(uint64_t address);

/* Whether anything is checked, so that notes are read. */
#define GFXSIM_NOTES_ARE_WANTED "gfxsim_notes_are_wanted"
typedef int gfxsim_notes_are_wanted_t(void);

#endif
