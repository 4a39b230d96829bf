/* A table by the upper half of the address, chunks by the rest, and pages of the bits of 4 KiB. Most memory
 * is all defined (no page) or all undefined (one page for all of it). */
#include "check/init_shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_SHIFT = 12, CHUNK_SHIFT = 21, ADDRESS_BITS = 47 };
enum { PAGE_BYTES = 1 << PAGE_SHIFT, CHUNK_PAGES = 1 << (CHUNK_SHIFT - PAGE_SHIFT) };

#define TOP_COUNT (UINT64_C(1) << (ADDRESS_BITS - CHUNK_SHIFT))
#define TOP_BYTES (TOP_COUNT * sizeof(_Atomic(gs_bits_chunk_t *)))

typedef struct page {
  uint8_t bits[PAGE_BYTES];
  uint32_t origin[PAGE_BYTES / 4];
} page_t;

struct gs_bits_chunk {
  _Atomic(page_t *) page[CHUNK_PAGES]; /* NULL: all defined; UNDEFINED: nothing is */
};

/* Its address only. */
static page_t undefined_mark;
#define UNDEFINED (&undefined_mark)

int gs_bits_init(gs_bits_t *shadow) {
  void *top =
      mmap(NULL, TOP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (top == MAP_FAILED)
    return -1;
  *shadow = (gs_bits_t){.top = top};
  return pthread_mutex_init(&shadow->lock, NULL) ? -1 : 0;
}

static void free_chunk(gs_bits_chunk_t *chunk) {
  for (unsigned i = 0; i < CHUNK_PAGES; i++) {
    page_t *page = atomic_load_explicit(&chunk->page[i], memory_order_relaxed);
    if (page != UNDEFINED)
      free(page);
  }
  free(chunk);
}

/* Not by a look at all of the table, of which only pages that were touched take room. */
void gs_bits_fini(gs_bits_t *shadow) {
  gs_bits_chunk_t *chunk;
  for (uint64_t i = 0; i < shadow->chunks; i++)
    if ((chunk = atomic_load_explicit(&shadow->top[shadow->used[i]], memory_order_relaxed)))
      free_chunk(chunk);
  free(shadow->used);
  munmap((void *)shadow->top, TOP_BYTES);
  pthread_mutex_destroy(&shadow->lock);
}

/* ---- Pages ---- */

static gs_bits_chunk_t *chunk_at(const gs_bits_t *shadow, uint64_t address) {
  const uint64_t index = address >> CHUNK_SHIFT;
  return index < TOP_COUNT ? atomic_load_explicit(&shadow->top[index], memory_order_acquire) : NULL;
}

static page_t *page_at(const gs_bits_t *shadow, uint64_t address) {
  gs_bits_chunk_t *chunk = chunk_at(shadow, address);
  return chunk ? atomic_load_explicit(&chunk->page[address >> PAGE_SHIFT & (CHUNK_PAGES - 1)],
                                      memory_order_acquire)
               : NULL;
}

/* Notes which chunks there are. Lock held. */
static bool list_chunk(gs_bits_t *shadow, uint64_t index) {
  if ((shadow->chunks & (shadow->chunks - 1)) == 0) {
    uint64_t *used = realloc(shadow->used, (shadow->chunks ? 2 * shadow->chunks : 1) * sizeof *used);
    if (!used)
      return false;
    shadow->used = used;
  }
  shadow->used[shadow->chunks++] = index;
  return true;
}

/* Lock held. */
static gs_bits_chunk_t *make_chunk(gs_bits_t *shadow, uint64_t address) {
  const uint64_t index = address >> CHUNK_SHIFT;
  gs_bits_chunk_t *chunk = chunk_at(shadow, address);
  if (chunk || index >= TOP_COUNT)
    return chunk;
  chunk = calloc(1, sizeof *chunk);
  if (!chunk || !list_chunk(shadow, index)) {
    free(chunk);
    return NULL;
  }
  atomic_store_explicit(&shadow->top[index], chunk, memory_order_release);
  return chunk;
}

/* The page of an address for writing: filled with what it was until now. NULL: no memory. */
static page_t *make_page(gs_bits_t *shadow, uint64_t address) {
  page_t *page = page_at(shadow, address);
  if (page && page != UNDEFINED)
    return page;
  pthread_mutex_lock(&shadow->lock);
  gs_bits_chunk_t *chunk = make_chunk(shadow, address);
  _Atomic(page_t *) *place = chunk ? &chunk->page[address >> PAGE_SHIFT & (CHUNK_PAGES - 1)] : NULL;
  page = place ? atomic_load_explicit(place, memory_order_relaxed) : NULL;
  if (place && (!page || page == UNDEFINED)) {
    page_t *own = calloc(1, sizeof *own);
    if (own && page)
      memset(own->bits, 0xff, sizeof own->bits);
    page = own;
    atomic_store_explicit(place, page, memory_order_release);
  }
  pthread_mutex_unlock(&shadow->lock);
  return page;
}

/* All of a page becomes one thing. A page that was made stays, as somebody may be reading it. */
static void set_page(gs_bits_t *shadow, uint64_t address, bool undefined) {
  page_t *page = page_at(shadow, address);
  if (page && page != UNDEFINED) {
    memset(page->bits, undefined ? 0xff : 0, sizeof page->bits);
    memset(page->origin, 0, sizeof page->origin);
    return;
  }
  if (!page && !undefined)
    return;
  pthread_mutex_lock(&shadow->lock);
  gs_bits_chunk_t *chunk = make_chunk(shadow, address);
  if (chunk)
    atomic_store_explicit(&chunk->page[address >> PAGE_SHIFT & (CHUNK_PAGES - 1)],
                          undefined ? UNDEFINED : NULL, memory_order_release);
  pthread_mutex_unlock(&shadow->lock);
}

static uint64_t page_end(uint64_t address, uint64_t end) {
  const uint64_t next = (address | (PAGE_BYTES - 1)) + 1;
  return next < end ? next : end;
}

/* ---- Ranges ---- */

static void set_bytes(gs_bits_t *shadow, uint64_t start, uint64_t end, bool undefined) {
  page_t *page = page_at(shadow, start);
  if (page == (undefined ? UNDEFINED : NULL))
    return;
  page = make_page(shadow, start);
  if (!page)
    return;
  memset(page->bits + start % PAGE_BYTES, undefined ? 0xff : 0, end - start);
  if (undefined)
    for (uint64_t at = start; at < end; at = (at | 3) + 1)
      page->origin[at % PAGE_BYTES / 4] = 0;
}

void gs_bits_set(gs_bits_t *shadow, uint64_t start, uint64_t end, bool undefined) {
  for (uint64_t at = start, next; at < end; at = next) {
    next = page_end(at, end);
    if (!undefined && !chunk_at(shadow, at))
      next = ((at >> CHUNK_SHIFT) + 1) << CHUNK_SHIFT;
    else if (next - at == PAGE_BYTES)
      set_page(shadow, at, undefined);
    else
      set_bytes(shadow, at, next, undefined);
  }
}

static bool is_zero(const uint8_t *bytes, size_t count) {
  return !bytes[0] && !memcmp(bytes, bytes + 1, count - 1);
}

bool gs_bits_is_defined(const gs_bits_t *shadow, uint64_t start, uint64_t end) {
  for (uint64_t at = start, next; at < end; at = next) {
    const page_t *page = page_at(shadow, at);
    next = page_end(at, end);
    if (page && (page == UNDEFINED || !is_zero(page->bits + at % PAGE_BYTES, next - at)))
      return false;
  }
  return true;
}

/* ---- Lanes' items, of which many are in one page ---- */

static bool is_within(uint64_t address, unsigned bytes) {
  return address % PAGE_BYTES <= PAGE_BYTES - bytes;
}

/* Some bit is set where one of so many bytes is not 0. */
static uint32_t any_of(const uint8_t *bits, unsigned bytes) {
  uint32_t any = 0, dword;
  for (; bytes >= sizeof dword; bytes -= (unsigned)sizeof dword, bits += sizeof dword) {
    memcpy(&dword, bits, sizeof dword);
    any |= dword;
  }
  for (; bytes; bytes--)
    any |= *bits++;
  return any;
}

bool gs_bits_are_defined(const gs_bits_t *shadow, const uint64_t *at, uint64_t lanes, uint64_t offset,
                         unsigned bytes) {
  const page_t *page = NULL;
  uint64_t number = UINT64_MAX; /* of the page */
  uint32_t any = 0;
  for (uint64_t left = lanes; left && !any; left &= left - 1) {
    const uint64_t address = at[__builtin_ctzll(left)] + offset;
    if (address >> PAGE_SHIFT != number) {
      number = address >> PAGE_SHIFT;
      page = page_at(shadow, address);
    }
    if (!is_within(address, bytes))
      any |= !gs_bits_is_defined(shadow, address, address + bytes);
    else if (page)
      any |= page == UNDEFINED || any_of(page->bits + address % PAGE_BYTES, bytes);
  }
  return !any;
}

void gs_bits_define(gs_bits_t *shadow, const uint64_t *at, uint64_t lanes, uint64_t offset, unsigned bytes) {
  page_t *page = NULL;
  uint64_t number = UINT64_MAX;
  for (uint64_t left = lanes; left; left &= left - 1) {
    const uint64_t address = at[__builtin_ctzll(left)] + offset;
    if (address >> PAGE_SHIFT != number) {
      number = address >> PAGE_SHIFT;
      page = page_at(shadow, address);
      if (page == UNDEFINED)
        page = make_page(shadow, address);
    }
    if (!is_within(address, bytes))
      gs_bits_set(shadow, address, address + bytes, false);
    else if (page)
      memset(page->bits + address % PAGE_BYTES, 0, bytes);
  }
}

void gs_bits_copy(gs_bits_t *shadow, uint64_t to, uint64_t from, uint64_t bytes) {
  if (gs_bits_is_defined(shadow, from, from + bytes)) {
    gs_bits_set(shadow, to, to + bytes, false);
    return;
  }
  for (uint64_t i = 0, size; i < bytes; i += size) {
    const page_t *page = page_at(shadow, from + i);
    uint32_t origin = 0;
    if (!page || page == UNDEFINED) {
      size = page_end(from + i, from + bytes) - (from + i);
      gs_bits_set(shadow, to + i, to + i + size, page);
      continue;
    }
    size = 4 - (from + i) % 4 < bytes - i ? 4 - (from + i) % 4 : bytes - i;
    const uint32_t bits = gs_bits_get(shadow, from + i, (unsigned)size, &origin);
    gs_bits_put(shadow, to + i, (unsigned)size, bits, origin);
  }
}

uint64_t gs_bits_find(const gs_bits_t *shadow, uint64_t start, uint64_t end, uint32_t *origin) {
  for (uint64_t at = start, next; at < end; at = next) {
    const page_t *page = page_at(shadow, at);
    next = page_end(at, end);
    for (uint64_t i = at; page && page != UNDEFINED && i < next; i++) {
      *origin = page->origin[i % PAGE_BYTES / 4];
      if (page->bits[i % PAGE_BYTES] && *origin)
        return i;
    }
  }
  return end;
}

/* ---- Items ---- */

static uint32_t ones(unsigned bytes) {
  return bytes < 4 ? (UINT32_C(1) << 8 * bytes) - 1 : UINT32_MAX;
}

/* As gs_bits_get, within a page. */
static uint32_t get_in_page(const gs_bits_t *shadow, uint64_t address, unsigned bytes, uint32_t *origin) {
  const page_t *page = page_at(shadow, address);
  const unsigned place = (unsigned)(address % PAGE_BYTES);
  uint32_t bits = 0;
  if (!page)
    return 0;
  if (page == UNDEFINED) {
    *origin = 0;
    return ones(bytes);
  }
  memcpy(&bits, page->bits + place, bytes);
  if (bits)
    *origin = page->origin[(place + (unsigned)__builtin_ctz(bits) / 8) / 4];
  return bits;
}

uint32_t gs_bits_get(const gs_bits_t *shadow, uint64_t address, unsigned bytes, uint32_t *origin) {
  const unsigned here = (unsigned)(page_end(address, address + bytes) - address);
  uint32_t bits = get_in_page(shadow, address, here, origin), first = bits;
  uint32_t other = 0;
  if (here < bytes)
    bits |= get_in_page(shadow, address + here, bytes - here, &other) << 8 * here;
  if (!first && bits)
    *origin = other;
  return bits;
}

static void put_in_page(gs_bits_t *shadow, uint64_t address, unsigned bytes, uint32_t bits, uint32_t origin) {
  const unsigned place = (unsigned)(address % PAGE_BYTES);
  page_t *page = page_at(shadow, address);
  if ((!page && !bits) || !(page = make_page(shadow, address)))
    return;
  memcpy(page->bits + place, &bits, bytes);
  for (unsigned i = 0; bits && i < bytes; i++)
    if (bits >> 8 * i & 0xff)
      page->origin[(place + i) / 4] = origin;
}

void gs_bits_put(gs_bits_t *shadow, uint64_t address, unsigned bytes, uint32_t bits, uint32_t origin) {
  const unsigned here = (unsigned)(page_end(address, address + bytes) - address);
  put_in_page(shadow, address, here, bits, origin);
  if (here < bytes)
    put_in_page(shadow, address + here, bytes - here, bits >> 8 * here, origin);
}
