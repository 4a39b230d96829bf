/* See lines.h. */
#include "check/lines.h"

/* Dword by dword: `count` of the row from its dword `at` on, which is a lane's first. */
static bool put_each(const gs_sweep_t *sweep, gs_shadow_page_t *page, size_t word, const gs_sweep_stamps_t *s,
                     size_t at, size_t count, bool writes) {
  if (!count)
    return true;
  word += at;
  gs_shadow_spread(page, word, count);
  const gs_sweep_stamps_t part = {.written = page->words->stamp[GS_SHADOW_WRITTEN] + word,
                                  .read = page->words->stamp[GS_SHADOW_READ] + word,
                                  .read_before = page->words->stamp[GS_SHADOW_READ_BEFORE] + word,
                                  .count = count,
                                  .floor = s->floor,
                                  .mine = s->mine + (at >> __builtin_ctz(s->width)),
                                  .width = s->width,
                                  .apart = s->apart,
                                  .no_writes = s->no_writes,
                                  .no_reads = s->no_reads};
  return writes ? sweep->write(&part) : sweep->read(&part);
}

/* The access in hand, of one line. */
typedef struct mine {
  gs_stamp_t first;
  uint8_t shift;
} mine_t;

static void put(gs_shadow_line_t *line, unsigned kind, gs_stamp_t first, uint8_t shift) {
  line->first[kind] = first;
  line->shift[kind] = shift;
  line->spread &= (uint8_t) ~(1u << kind);
}

/* Whether none of the line's stamps of this kind is of anybody whom the access may meet. */
static bool is_clear(const gs_shadow_line_t *line, unsigned kind, const gs_sweep_stamps_t *s, mine_t mine) {
  const gs_stamp_t first = line->first[kind], differ = first ^ mine.first;
  if (line->spread >> kind & 1)
    return false;
  if (first < s->floor || (!(differ >> GS_STAMP_WAVE) && first < s->apart))
    return true;
  return !(differ >> GS_STAMP_WAVE) && line->shift[kind] == mine.shift && !(differ & 63);
}

static bool read_line(gs_shadow_line_t *line, const gs_sweep_stamps_t *s, mine_t mine) {
  const gs_stamp_t last = line->first[GS_SHADOW_READ];
  if (line->spread >> GS_SHADOW_READ & 1 || !(s->no_writes || is_clear(line, GS_SHADOW_WRITTEN, s, mine)))
    return false;
  if (last && (last ^ mine.first) >> GS_STAMP_WAVE) /* never 0, which says that there was none */
    put(line, GS_SHADOW_READ_BEFORE, last, line->shift[GS_SHADOW_READ]);
  put(line, GS_SHADOW_READ, mine.first, mine.shift);
  return true;
}

static bool write_line(gs_shadow_line_t *line, const gs_sweep_stamps_t *s, mine_t mine) {
  if (!s->no_writes && !is_clear(line, GS_SHADOW_WRITTEN, s, mine))
    return false;
  if (!s->no_reads &&
      !(is_clear(line, GS_SHADOW_READ, s, mine) && is_clear(line, GS_SHADOW_READ_BEFORE, s, mine)))
    return false;
  put(line, GS_SHADOW_WRITTEN, mine.first, mine.shift);
  return true;
}

/* Those of the line that has the dword, which are two lines of the host's caches. */
static void fetch_stamps(const gs_shadow_page_t *page, size_t word) {
  for (unsigned kind = 0; kind < GS_SHADOW_KINDS; kind++) {
    __builtin_prefetch(&page->words->stamp[kind][word], 1);
    __builtin_prefetch(&page->words->stamp[kind][word ^ GS_SHADOW_LINE / 2], 1);
  }
}

void gs_lines_expect(const gs_shadow_page_t *page, size_t word, size_t count) {
  const size_t last = word + count - 1, next = last + count;
  gs_shadow_fetch(page, word + count, count);
  if (page->line[last / GS_SHADOW_LINE].spread && next < GS_SHADOW_WORDS)
    fetch_stamps(page, next);
}

/* What is not of whole lines is looked at dword by dword, and seldom is in the host's caches: begins to load
 * the one while the other is waited for. */
static void fetch_ends(const gs_shadow_page_t *page, size_t word, size_t count) {
  const size_t ends[] = {word, word + count - 1};
  for (unsigned i = 0; i < 2; i++)
    for (unsigned kind = 0; kind < GS_SHADOW_KINDS; kind++)
      if (page->line[ends[i] / GS_SHADOW_LINE].spread >> kind & 1)
        __builtin_prefetch(&page->words->stamp[kind][ends[i]], 1);
}

bool gs_lines_put(const gs_sweep_t *sweep, gs_shadow_page_t *page, size_t word, const gs_sweep_stamps_t *s,
                  bool writes) {
  const size_t head = -word % GS_SHADOW_LINE;
  const unsigned shift = (unsigned)__builtin_ctz(s->width);
  /* A line must not begin within a lane's dwords, unless all dwords are one lane's. */
  const bool even = s->width >> shift == 1 && (s->width >= s->count || head % s->width == 0);
  if (!even || s->count < head + GS_SHADOW_LINE)
    return put_each(sweep, page, word, s, 0, s->count, writes);
  fetch_ends(page, word, s->count);
  if (!put_each(sweep, page, word, s, 0, head, writes))
    return false;
  size_t at = head;
  for (; at + GS_SHADOW_LINE <= s->count; at += GS_SHADOW_LINE) {
    gs_shadow_line_t *line = &page->line[(word + at) / GS_SHADOW_LINE];
    const mine_t mine = {s->mine + (at >> shift), shift < 4 ? (uint8_t)shift : 4};
    if (writes ? write_line(line, s, mine) : read_line(line, s, mine))
      continue;
    if (!put_each(sweep, page, word, s, at, GS_SHADOW_LINE, writes))
      return false;
    put(line, writes ? GS_SHADOW_WRITTEN : GS_SHADOW_READ, mine.first, mine.shift);
  }
  return put_each(sweep, page, word, s, at, s->count - at, writes);
}
