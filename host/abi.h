/* What programs of clang 13 to 23 pass to libomptarget, on LP64 machines: tables that their constructors
 * register, and structures that come with each construct. Numbers in square brackets are the versions of
 * clang that a statement holds for. Not here: what any of it means for a device. */
#ifndef TGT_ABI_H
#define TGT_ABI_H

#include <stddef.h>
#include <stdint.h>

#define TGT_EXPORT __attribute__((visibility("default")))

/* ---- tables ---- */

/* A global variable, a kernel, or a statement about the program. [13-19] */
typedef struct tgt_entry13 {
  void *address; /* on the host: of the variable, or of a byte that stands for the kernel */
  char *name;
  uint64_t size; /* 0: a kernel */
  int32_t flags, data;
} tgt_entry13_t;

/* The same, told apart by its first word, which is never an address. [21-] */
typedef struct tgt_entry21 {
  uint64_t zero;
  uint16_t version, kind;
  uint32_t flags;
  void *address;
  char *name;
  uint64_t size, data;
  void *more;
} tgt_entry21_t;

enum { TGT_ENTRY_VERSION = 1, TGT_ENTRY_OPENMP = 1 };

enum {
  TGT_ENTRY_LINK = 1,
  TGT_ENTRY_CTOR = 2,        /* a kernel to run once after loading [13-17] */
  TGT_ENTRY_DTOR = 4,        /* a kernel to run once before unloading [13-17] */
  TGT_ENTRY_INDIRECT = 8,    /* a function that is called by its host address [18-] */
  TGT_ENTRY_REQUIRES = 0x10, /* no entry, but the program's "requires" in its data [19-] */
  TGT_ENTRY_VTABLE = 0x20,   /* [22-] */
};

/* The program's "requires" clauses. */
enum {
  TGT_REQUIRES_NOTHING = 1,
  TGT_REQUIRES_REVERSE_OFFLOAD = 2,
  TGT_REQUIRES_UNIFIED_ADDRESS = 4,
  TGT_REQUIRES_UNIFIED_MEMORY = 8,
  TGT_REQUIRES_DYNAMIC_ALLOCATORS = 16,
};

typedef struct tgt_image {
  const void *begin, *end;
  const void *entries_begin, *entries_end; /* the host's, again */
} tgt_image_t;

/* All images of one executable or shared library. */
typedef struct tgt_descriptor {
  int32_t image_count;
  const tgt_image_t *images;
  const void *entries_begin, *entries_end; /* of either layout */
} tgt_descriptor_t;

/* ---- constructs ---- */

typedef struct tgt_ident {
  int32_t reserved[4];
  const char *source; /* ";file;function;line;column;;" */
} tgt_ident_t;

/* Flags of maps. None ever changed its meaning. */
enum {
  TGT_MAP_TO = 1,
  TGT_MAP_FROM = 2,
  TGT_MAP_PARAM = 0x20,
  TGT_MAP_PRIVATE = 0x80,
  TGT_MAP_LITERAL = 0x100,
  TGT_MAP_IMPLICIT = 0x200,
};

/* The arguments of a region: version 1 [15], 2 [16, 17], 3 [18-22], 5 [23]. */
typedef struct tgt_kernel_args {
  uint32_t version, count;
  void **bases, **begins;
  int64_t *sizes, *types;
  void **names, **mappers;
  uint64_t tripcount;
  /* What follows does not exist in version 1, and must not be looked at before the version was. */
  uint64_t flags;
  uint32_t teams[3], threads[3];
  uint32_t dynamic_lds_bytes;
} tgt_kernel_args_t;

enum {
  TGT_ARGS_OLDEST = 1,
  TGT_ARGS_WITH_FLAGS = 2,
  TGT_ARGS_WITH_LAST = 4, /* the last argument is not the program's: a place for the kernel's extra one */
  TGT_ARGS_NEWEST = 5,
};

enum { TGT_ARGS_NOWAIT = 1, TGT_ARGS_CUDA = 2 };

/* A region without teams, where the number of teams is passed. */
enum { TGT_NO_TEAMS = -1 };

/* Special device numbers: of constructs, and of the API's functions. */
enum { TGT_DEVICE_DEFAULT = -1, TGT_INITIAL_DEVICE = -1, TGT_INVALID_DEVICE = -2 };

_Static_assert(sizeof(tgt_entry13_t) == 32 && sizeof(tgt_entry21_t) == 56, "as clang lays them out");
_Static_assert(sizeof(tgt_image_t) == 32 && sizeof(tgt_descriptor_t) == 32, "as clang lays them out");
_Static_assert(offsetof(tgt_kernel_args_t, flags) == 64 && sizeof(tgt_kernel_args_t) == 104,
               "as clang lays it out");

#endif
