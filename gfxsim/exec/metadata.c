/* Metadata are MessagePack in a note (LLVM's AMDGPUUsage, "Code Object V3 Metadata"), which is in the first
 * segment that is loaded. Everything read is untrusted: what makes no sense ends the search. Not here: where
 * notes are (symbol.c). */
#include "exec/metadata.h"

#include <elf.h>
#include <string.h>

#include "exec/symbol.h"

enum { NT_METADATA = 32 /* NT_AMDGPU_METADATA */ };

/* ---- MessagePack ---- */

typedef struct reader {
  const uint8_t *at, *end;
} reader_t;

typedef enum kind { KIND_BAD, KIND_INTEGER, KIND_TEXT, KIND_ARRAY, KIND_MAP, KIND_OTHER } kind_t;

/* One item; of an array or a map its items follow. */
typedef struct item {
  kind_t kind;
  uint64_t value;   /* INTEGER; or how many bytes, items, pairs */
  const char *text; /* TEXT, not terminated */
} item_t;

/* A big-endian number of so many bytes. */
static bool take(reader_t *r, unsigned bytes, uint64_t *value) {
  if ((size_t)(r->end - r->at) < bytes)
    return false;
  *value = 0;
  while (bytes--)
    *value = *value << 8 | *r->at++;
  return true;
}

/* Takes the bytes that belong to the item itself. */
static item_t with_bytes(reader_t *r, item_t item) {
  if ((uint64_t)(r->end - r->at) < item.value)
    return (item_t){KIND_BAD, 0, NULL};
  item.text = (const char *)r->at;
  r->at += item.value;
  return item;
}

/* Formats from 0xc0 on: what the first byte says, and how many bytes of a number follow it. */
static const struct {
  uint8_t kind, bytes;
} formats[32] = {
    [0x00] = {KIND_OTHER, 0},   [0x02] = {KIND_OTHER, 0},   [0x03] = {KIND_OTHER, 0},
    [0x0a] = {KIND_OTHER, 4},   [0x0b] = {KIND_OTHER, 8},   [0x0c] = {KIND_INTEGER, 1},
    [0x0d] = {KIND_INTEGER, 2}, [0x0e] = {KIND_INTEGER, 4}, [0x0f] = {KIND_INTEGER, 8},
    [0x10] = {KIND_OTHER, 1},   [0x11] = {KIND_OTHER, 2},   [0x12] = {KIND_OTHER, 4},
    [0x13] = {KIND_OTHER, 8},   [0x19] = {KIND_TEXT, 1},    [0x1a] = {KIND_TEXT, 2},
    [0x1b] = {KIND_TEXT, 4},    [0x1c] = {KIND_ARRAY, 2},   [0x1d] = {KIND_ARRAY, 4},
    [0x1e] = {KIND_MAP, 2},     [0x1f] = {KIND_MAP, 4},
};

static item_t next(reader_t *r) {
  enum { MAPS = 0x80, ARRAYS = 0x90, TEXTS = 0xa0, OTHERS = 0xc0, NEGATIVE = 0xe0 };
  uint64_t first, value;
  if (!take(r, 1, &first))
    return (item_t){KIND_BAD, 0, NULL};
  if (first < MAPS)
    return (item_t){KIND_INTEGER, first, NULL};
  if (first < ARRAYS)
    return (item_t){KIND_MAP, first - MAPS, NULL};
  if (first < TEXTS)
    return (item_t){KIND_ARRAY, first - ARRAYS, NULL};
  if (first < OTHERS)
    return with_bytes(r, (item_t){KIND_TEXT, first - TEXTS, NULL});
  if (first >= NEGATIVE)
    return (item_t){KIND_OTHER, 0, NULL};
  item_t item = {(kind_t)formats[first - OTHERS].kind, 0, NULL};
  if (item.kind == KIND_BAD || !take(r, formats[first - OTHERS].bytes, &value))
    return (item_t){KIND_BAD, 0, NULL};
  item.value = value;
  return item.kind == KIND_TEXT ? with_bytes(r, item) : item;
}

/* Passes over one item with all that is in it. */
static bool skip(reader_t *r) {
  for (uint64_t left = 1; left; left--) {
    const item_t item = next(r);
    const uint64_t inside = item.kind == KIND_ARRAY ? item.value : item.kind == KIND_MAP ? 2 * item.value : 0;
    if (item.kind == KIND_BAD || inside > (uint64_t)(r->end - r->at)) /* each has a byte at least */
      return false;
    left += inside;
  }
  return true;
}

static bool is_text(const item_t *item, const char *text) {
  return item->kind == KIND_TEXT && item->value == strlen(text) && !memcmp(item->text, text, item->value);
}

/* ---- Kernels ---- */

/* A kernel's map. Returns false where it makes no sense; fills *size if it is the one that is called so. */
static bool look_at_kernel(reader_t *r, const char *symbol, uint32_t *size) {
  const item_t kernel = next(r);
  bool is_it = false;
  uint64_t most = 0;
  for (uint64_t i = 0; kernel.kind == KIND_MAP && i < kernel.value; i++) {
    const item_t key = next(r);
    if (is_text(&key, ".symbol")) {
      const item_t name = next(r);
      is_it = is_text(&name, symbol);
    } else if (is_text(&key, ".max_flat_workgroup_size")) {
      const item_t number = next(r);
      most = number.kind == KIND_INTEGER ? number.value : 0;
    } else if (key.kind != KIND_TEXT || !skip(r)) {
      return false;
    }
  }
  if (is_it && most <= UINT32_MAX)
    *size = (uint32_t)most;
  return kernel.kind == KIND_MAP;
}

static uint32_t find_in(reader_t r, const char *symbol) {
  const item_t top = next(&r);
  uint32_t size = 0;
  for (uint64_t i = 0; top.kind == KIND_MAP && i < top.value; i++) {
    const item_t key = next(&r);
    if (is_text(&key, "amdhsa.kernels")) {
      const item_t kernels = next(&r);
      for (uint64_t k = 0; kernels.kind == KIND_ARRAY && k < kernels.value && !size; k++)
        if (!look_at_kernel(&r, symbol, &size))
          return 0;
      return size;
    }
    if (key.kind != KIND_TEXT || !skip(&r))
      return 0;
  }
  return 0;
}

/* ---- Notes ---- */

uint32_t gs_metadata_in_notes(const uint8_t *notes, uint64_t size, const char *symbol) {
  static const char owner[8] = "AMDGPU";
  const uint8_t *const end = notes + size;
  while ((size_t)(end - notes) >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    memcpy(&note, notes, sizeof note);
    notes += sizeof note;
    const uint64_t name = (note.n_namesz + UINT64_C(3)) & ~UINT64_C(3);
    const uint64_t bytes = (note.n_descsz + UINT64_C(3)) & ~UINT64_C(3);
    if (name + bytes > (uint64_t)(end - notes))
      return 0;
    if (note.n_type == NT_METADATA && note.n_namesz == sizeof "AMDGPU" &&
        !memcmp(notes, owner, note.n_namesz))
      return find_in((reader_t){notes + name, notes + name + note.n_descsz}, symbol);
    notes += name + bytes;
  }
  return 0;
}

/* What is looked for. */
typedef struct wanted {
  char symbol[GS_SYMBOL_BYTES];
  uint32_t size;
} wanted_t;

static bool look(const uint8_t *notes, uint64_t size, void *context) {
  wanted_t *wanted = context;
  wanted->size = gs_metadata_in_notes(notes, size, wanted->symbol);
  return wanted->size;
}

uint32_t gs_metadata_group_size(const gs_vm_map_t *map, uint64_t object) {
  wanted_t wanted = {.size = 0};
  const bool found = gs_symbol_find(map, object, wanted.symbol, sizeof wanted.symbol) == object;
  return found && gs_symbol_notes(map, object, look, &wanted) ? wanted.size : 0;
}
