/* See site.h. The code behind an instruction is read once for each, some dozen instructions of it. */
#include "check/site.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check/cache_parts.h"
#include "exec/instruction.h"
#include "exec/place.h"

enum { HASHES = 4 * GS_SITES, CODE_BYTES = 1024, LOOP_BYTES = 256, COMPARE_WITHIN = 128 };

/* How many there were: the only thing that lives longer than they do. */
static _Atomic uint64_t made;

int gs_sites_init(gs_sites_t *sites) {
  *sites = (gs_sites_t){.count = GS_SITE_FIRST, .id = atomic_fetch_add(&made, 1) + 1};
  sites->site = calloc(GS_SITES, sizeof *sites->site);
  sites->by_hash = calloc(HASHES, sizeof *sites->by_hash);
  if (sites->site && sites->by_hash && !pthread_mutex_init(&sites->lock, NULL)) {
    sites->site[GS_SITE_OF_COPIES] = (gs_site_t){.bytes = 15, .flags = GS_SITE_COPY, .data = GS_SITE_NO_DATA};
    sites->site[GS_SITE_UNKNOWN].data = GS_SITE_NO_DATA;
    return 0;
  }
  free(sites->site);
  free(sites->by_hash);
  return -1;
}

void gs_sites_fini(gs_sites_t *sites) {
  pthread_mutex_destroy(&sites->lock);
  free(sites->site);
  free(sites->by_hash);
}

/* ---- What code is for ---- */

static bool is_memory(const gs_inst_t *in) {
  return in->op->encoding >= GS_ENC_DS && in->op->encoding <= GS_ENC_MTBUF;
}

static bool writes_memory(const gs_inst_t *in) {
  return in->op->flags & (GS_OPF_STORE | GS_OPF_ATOMIC | GS_OPF_RTN);
}

static bool is_compare_and_swap(const gs_inst_t *in) {
  return is_memory(in) && (strstr(in->op->name, "cmpswap") || strstr(in->op->name, "cmpst"));
}

/* What locks are made of. An atomic load is often written as "or" with 0. */
static bool is_exchange(const gs_inst_t *in) {
  if (strstr(in->op->name, "_or") && (in->glc || in->op->flags & GS_OPF_RTN))
    return true;
  return strstr(in->op->name, "swap") || strstr(in->op->name, "cmpst") || strstr(in->op->name, "xchg");
}

/* Whether the instruction writes one of `count` registers from `reg` on, vector or scalar. */
static bool writes_register(const gs_inst_t *in, bool vector, unsigned reg, unsigned count) {
  const unsigned encoding = in->op->encoding, dwords = gs_type_dwords((gs_type_t)in->op->dst);
  const bool scalar = encoding <= GS_ENC_SMEM || encoding == GS_ENC_VOPC || in->op->flags & GS_OPF_SCALAR_DST;
  if (!dwords || (is_memory(in) && in->op->flags & GS_OPF_STORE))
    return false;
  if (encoding == GS_ENC_VOPD && vector && in->sdst >= reg && in->sdst < reg + count)
    return true; /* the second of the pair */
  return scalar != vector && in->dst < reg + count && reg < in->dst + dwords;
}

/* How many registers of a load's operand `i` are of its address. What follows them is often what it loads. */
static unsigned address_dwords(const gs_inst_t *load, unsigned i) {
  static const uint8_t dwords[GS_ENC_COUNT][3] = {
      [GS_ENC_DS] = {1},           [GS_ENC_FLAT] = {2},
      [GS_ENC_GLOBAL] = {2, 0, 2}, [GS_ENC_SCRATCH] = {1, 0, 1},
      [GS_ENC_MUBUF] = {0, 4, 1},  [GS_ENC_MTBUF] = {0, 4, 1},
  };
  const unsigned encoding = load->op->encoding;
  if (i == 0 && (encoding == GS_ENC_MUBUF || encoding == GS_ENC_MTBUF))
    return (unsigned)load->idxen + load->offen;
  if (i == 0 && encoding == GS_ENC_GLOBAL && load->src[2].kind == GS_SRC_SGPR)
    return 1; /* an offset to the scalar base */
  return dwords[encoding][i];
}

static bool writes_address(const gs_inst_t *in, const gs_inst_t *load, bool vector) {
  for (unsigned i = 0; i < 3; i++)
    if (load->src[i].kind == (vector ? GS_SRC_VGPR : GS_SRC_SGPR) &&
        writes_register(in, vector, load->src[i].reg, address_dwords(load, i)))
      return true;
  return false;
}

static bool is_constant(const gs_inst_t *in) {
  return in->op->encoding == GS_ENC_VOP1 && in->src[0].kind == GS_SRC_CONST;
}

/* Whether the load at `at` has its address from a constant, in code from `from` on: whatever its register has
 * later does not matter then. Of local memory, whose address is one register. */
static bool has_constant_address(const gs_wave_t *w, const gs_inst_t *load, uint64_t at, uint64_t from) {
  gs_inst_t in;
  bool has = false;
  if (load->op->encoding != GS_ENC_DS)
    return false;
  for (uint64_t pc = from; pc < at && gs_instruction_seen(w, pc, &in); pc += in.size)
    has = writes_address(&in, load, true) ? is_constant(&in) : has;
  return has;
}

/* Whether anything between the two places stores, or changes the address of the load at `at`. */
static bool changes_between(const gs_wave_t *w, const gs_inst_t *load, uint64_t at, uint64_t from,
                            uint64_t to) {
  gs_inst_t in;
  const bool any = has_constant_address(w, load, at, from);
  for (uint64_t pc = from; pc < to; pc += in.size) {
    if (!gs_instruction_seen(w, pc, &in))
      return true;
    if (is_memory(&in) && writes_memory(&in))
      return true;
    /* The load may take its address's place, if that is a constant which is loaded again. */
    const bool harmless = any || pc == at || is_constant(&in);
    if ((!harmless && writes_address(&in, load, true)) || writes_address(&in, load, false))
      return true;
  }
  return false;
}

/* Whether the load at `pc` is repeated, with the same address, by a short loop that does nothing else. */
static bool is_repeated(const gs_wave_t *w, uint64_t pc, const gs_inst_t *load) {
  gs_inst_t in;
  for (uint64_t at = pc + load->size; at < pc + LOOP_BYTES && gs_instruction_seen(w, at, &in);
       at += in.size) {
    if (in.op->src[0] != GS_T_BRANCH)
      continue;
    const uint64_t target = at + 4 + (uint64_t)(int64_t)(4 * (int16_t)in.word[0]);
    if (target <= pc && pc - target <= LOOP_BYTES)
      return !changes_between(w, load, pc, target, at);
  }
  return false;
}

/* The same, or the first round of such a loop, which compilers write out in front of it. */
static bool is_polling(const gs_wave_t *w, uint64_t pc, const gs_inst_t *load) {
  gs_inst_t in;
  if (is_repeated(w, pc, load))
    return true;
  for (uint64_t at = pc + load->size; at < pc + LOOP_BYTES && gs_instruction_seen(w, at, &in); at += in.size)
    if (in.op == load->op && in.imm == load->imm)
      return is_repeated(w, at, &in);
  return false;
}

/* Compilers make atomic operations that the processor does not have of a plain load and a loop. */
static bool is_compared(const gs_wave_t *w, uint64_t pc, const gs_inst_t *load) {
  gs_inst_t in;
  uint64_t at = pc + load->size;
  for (unsigned i = 0; i < COMPARE_WITHIN && at < pc + CODE_BYTES && gs_instruction_seen(w, at, &in);
       i++, at += in.size)
    if (is_compare_and_swap(&in))
      return true;
  return false;
}

static unsigned flags_of(const gs_wave_t *w, uint64_t pc) {
  gs_inst_t in;
  if (!gs_instruction_seen(w, pc, &in))
    return 0;
  if (in.op->flags & (GS_OPF_ATOMIC | GS_OPF_RTN))
    return GS_SITE_ATOMIC | (is_exchange(&in) ? GS_SITE_EXCHANGE : 0u) |
           (in.glc || in.op->flags & GS_OPF_RTN ? GS_SITE_RETURNS : 0u);
  const gs_caches_t *caches = gs_caches_of(w->env->target);
  const unsigned bits = gs_caches_bits(w->env->target, &in);
  unsigned flags = in.op->encoding == GS_ENC_SMEM ? GS_SITE_SCALAR : 0u;
  if (writes_memory(&in))
    return flags | (in.op->flags & GS_OPF_D16_HI ? GS_SITE_HIGH : 0u) |
           (bits & caches->through ? GS_SITE_THROUGH : 0u);
  flags |= (bits & caches->past ? GS_SITE_PAST : 0u) | (bits & caches->past_array ? GS_SITE_PAST_ARRAY : 0u);
  if (flags & GS_SITE_PAST || (is_memory(&in) && is_polling(w, pc, &in)))
    flags |= GS_SITE_WAITS;
  const bool loads = is_memory(&in) || in.op->encoding == GS_ENC_SMEM;
  return flags | (loads && is_compared(w, pc, &in) ? GS_SITE_COMPARED : 0);
}

/* The register with what the instruction stores, in global memory and by one address. */
static unsigned data_of(const gs_wave_t *w, uint64_t pc) {
  gs_inst_t in;
  if (!gs_instruction_seen(w, pc, &in) || !(in.op->flags & GS_OPF_STORE) || in.op->flags & GS_OPF_TWO_ADDR)
    return GS_SITE_NO_DATA;
  switch ((gs_encoding_t)in.op->encoding) {
  case GS_ENC_MUBUF: return in.dst;
  case GS_ENC_FLAT:
  case GS_ENC_GLOBAL:
  case GS_ENC_SCRATCH: return in.src[1].reg;
  default: return GS_SITE_NO_DATA;
  }
}

/* A number for the code that the purpose is read from, as far as it goes. */
static uint64_t code_around(const gs_vm_map_t *map, uint64_t pc) {
  enum { BEFORE = 64 };
  uint64_t hash = UINT64_C(0xcbf29ce484222325), word;
  const gs_vm_range_t *range = gs_vm_find_mapped(map, pc);
  if (!range)
    return 0;
  const uint64_t from = pc - range->start < BEFORE ? range->start : pc - BEFORE;
  const uint64_t to = range->end - pc < CODE_BYTES ? range->end : pc + CODE_BYTES;
  for (uint64_t at = from; at + sizeof word <= to; at += sizeof word) {
    memcpy(&word, range->host + (at - range->start), sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return hash;
}

static uint32_t find_site(gs_sites_t *sites, const gs_wave_t *w, const gs_vm_map_t *map, unsigned bytes) {
  const uint64_t pc = w->pc - GS_PLACE_INSTRUCTION_BYTES, code = code_around(map, pc);
  uint32_t found = GS_SITE_UNKNOWN;
  uint32_t at = (uint32_t)((pc * 16 + bytes) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % HASHES;
  pthread_mutex_lock(&sites->lock);
  for (; sites->by_hash[at] && !found; at = (at + 1) % HASHES) {
    const gs_site_t *site = &sites->site[sites->by_hash[at]];
    if (site->pc == pc && site->code == code && site->bytes == bytes)
      found = sites->by_hash[at];
  }
  if (!found && sites->count < GS_SITES) {
    found = sites->count++;
    sites->site[found] = (gs_site_t){.pc = pc,
                                     .code = code,
                                     .bytes = (uint8_t)bytes,
                                     .flags = (uint16_t)flags_of(w, pc),
                                     .data = (uint16_t)data_of(w, pc)};
    sites->by_hash[at] = (uint16_t)found;
  }
  pthread_mutex_unlock(&sites->lock);
  return found;
}

/* Sites that this thread has met lately, of code as it was at the epoch. */
enum { REMEMBERED = 1024 };
static _Thread_local struct {
  uint64_t sites, epoch;
  struct {
    uint64_t key;
    uint32_t site;
  } met[REMEMBERED];
} remembered;

uint32_t gs_site_of(gs_sites_t *sites, const gs_wave_t *w, unsigned bytes) {
  const gs_vm_map_t *map = atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed);
  const uint64_t key = w->pc * 16 + bytes;
  const unsigned at = (unsigned)(w->pc / 4 + bytes) % REMEMBERED;
  if (remembered.sites != sites->id || remembered.epoch != map->code_epoch) {
    memset(&remembered, 0, sizeof remembered);
    remembered.sites = sites->id;
    remembered.epoch = map->code_epoch;
  }
  if (remembered.met[at].key != key) {
    remembered.met[at].site = find_site(sites, w, map, bytes);
    remembered.met[at].key = key;
  }
  return remembered.met[at].site;
}
