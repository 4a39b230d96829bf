/* The device's heap: pieces with a bitmap of their blocks, one list of pieces with room for each size of
 * block. */
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum { SMALLEST_SHIFT = 4, PIECE_BYTES = 1 << 20, LARGE = ATMI_HEAP_CLASSES };

typedef struct atmi_heap_piece {
  uint64_t address, bytes;
  uint32_t size_class; /* or LARGE: one block */
  uint32_t block_count, used, hint;
  struct atmi_heap_piece *next, *previous; /* in the list of those with room */
  bool listed;
  uint64_t taken[]; /* a bit for each block */
} atmi_heap_piece_t;

void atmi_heap_init(const atmi_heap_backing_t *backing, atmi_heap_t *heap) {
  *heap = (atmi_heap_t){.backing = *backing};
}

void atmi_heap_fini(atmi_heap_t *heap) {
  for (uint32_t i = 0; i < heap->piece_count; i++) {
    heap->backing.release(heap->backing.context, heap->pieces[i]->address);
    free(heap->pieces[i]);
  }
  free(heap->pieces);
  *heap = (atmi_heap_t){0};
}

/* ---- lists ---- */

static void list(atmi_heap_t *heap, atmi_heap_piece_t *piece) {
  piece->listed = true;
  piece->previous = NULL;
  piece->next = heap->open[piece->size_class];
  if (piece->next)
    piece->next->previous = piece;
  heap->open[piece->size_class] = piece;
}

static void unlist(atmi_heap_t *heap, atmi_heap_piece_t *piece) {
  piece->listed = false;
  if (piece->next)
    piece->next->previous = piece->previous;
  if (piece->previous)
    piece->previous->next = piece->next;
  else
    heap->open[piece->size_class] = piece->next;
}

/* ---- pieces ---- */

/* Index of the first piece above the address. */
static uint32_t find_above(const atmi_heap_t *heap, uint64_t address) {
  uint32_t low = 0, high = heap->piece_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (heap->pieces[middle]->address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool reserve_piece(atmi_heap_t *heap) {
  if (heap->piece_count < heap->piece_capacity)
    return true;
  uint32_t larger = heap->piece_capacity ? 2 * heap->piece_capacity : 16;
  atmi_heap_piece_t **longer = realloc(heap->pieces, larger * sizeof(*longer));
  if (!longer)
    return false;
  heap->pieces = longer;
  heap->piece_capacity = larger;
  return true;
}

static atmi_heap_piece_t *add_piece(atmi_heap_t *heap, uint32_t size_class, uint64_t bytes, uint32_t blocks) {
  size_t words = (blocks + 63) / 64;
  atmi_heap_piece_t *piece = calloc(1, sizeof *piece + words * sizeof *piece->taken);
  if (!piece || !reserve_piece(heap) ||
      !(piece->address = heap->backing.allocate(heap->backing.context, bytes))) {
    free(piece);
    return NULL;
  }
  piece->bytes = bytes;
  piece->size_class = size_class;
  piece->block_count = blocks;
  uint32_t index = find_above(heap, piece->address);
  memmove(&heap->pieces[index + 1], &heap->pieces[index],
          (heap->piece_count - index) * sizeof(*heap->pieces));
  heap->pieces[index] = piece;
  heap->piece_count++;
  return piece;
}

static void remove_piece(atmi_heap_t *heap, uint32_t index) {
  atmi_heap_piece_t *piece = heap->pieces[index];
  heap->piece_count--;
  memmove(&heap->pieces[index], &heap->pieces[index + 1],
          (heap->piece_count - index) * sizeof(*heap->pieces));
  heap->backing.release(heap->backing.context, piece->address);
  free(piece);
}

/* ---- blocks ---- */

static uint32_t class_of(uint64_t bytes) {
  uint32_t size_class = 0;
  while (size_class < LARGE && UINT64_C(1) << (size_class + SMALLEST_SHIFT) < bytes)
    size_class++;
  return size_class;
}

static uint32_t take_block(atmi_heap_piece_t *piece) {
  uint32_t words = (piece->block_count + 63) / 64;
  while (!~piece->taken[piece->hint])
    piece->hint = (piece->hint + 1) % words;
  uint32_t bit = (uint32_t)__builtin_ctzll(~piece->taken[piece->hint]);
  piece->taken[piece->hint] |= UINT64_C(1) << bit;
  piece->used++;
  return piece->hint * 64 + bit;
}

static atmi_heap_piece_t *take_whole(atmi_heap_t *heap, uint64_t bytes) {
  atmi_heap_piece_t *piece = NULL;
  for (uint32_t i = 0; heap->backing.apart && i < heap->piece_count && !piece; i++)
    if (!heap->pieces[i]->used && heap->pieces[i]->bytes == bytes)
      piece = heap->pieces[i];
  if (!piece)
    piece = add_piece(heap, LARGE, bytes, 1);
  if (piece)
    piece->used = 1;
  return piece;
}

uint64_t atmi_heap_allocate(atmi_heap_t *heap, uint64_t bytes) {
  uint32_t size_class = heap->backing.apart ? LARGE : class_of(bytes);
  if (size_class == LARGE) {
    if (bytes > INT64_MAX)
      return 0;
    atmi_heap_piece_t *large = take_whole(heap, bytes + !bytes);
    return large ? large->address : 0;
  }
  uint32_t shift = size_class + SMALLEST_SHIFT;
  atmi_heap_piece_t *piece = heap->open[size_class];
  if (!piece) {
    /* At least 64 blocks or none: every word of the bitmap is whole. */
    uint32_t blocks = PIECE_BYTES >> shift > 64 ? (uint32_t)PIECE_BYTES >> shift : 64;
    piece = add_piece(heap, size_class, (uint64_t)blocks << shift, blocks);
    if (!piece)
      return 0;
    list(heap, piece);
  }
  uint64_t address = piece->address + ((uint64_t)take_block(piece) << shift);
  if (piece->used == piece->block_count)
    unlist(heap, piece);
  return address;
}

bool atmi_heap_release(atmi_heap_t *heap, uint64_t address) {
  uint32_t index = find_above(heap, address);
  if (!index)
    return false;
  atmi_heap_piece_t *piece = heap->pieces[--index];
  uint64_t into = address - piece->address;
  if (piece->size_class == LARGE) {
    if (into || !piece->used)
      return false;
    piece->used = 0;
    if (!heap->backing.apart)
      remove_piece(heap, index);
    return true;
  }
  uint32_t shift = piece->size_class + SMALLEST_SHIFT;
  uint64_t block = into >> shift;
  if (into >= piece->bytes || into & ((UINT64_C(1) << shift) - 1) ||
      !(piece->taken[block / 64] >> block % 64 & 1))
    return false;
  piece->taken[block / 64] &= ~(UINT64_C(1) << block % 64);
  piece->hint = (uint32_t)(block / 64);
  piece->used--;
  if (!piece->listed)
    list(heap, piece);
  return true;
}
