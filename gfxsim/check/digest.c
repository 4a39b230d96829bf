/* See digest.h. */
#include "check/digest.h"

#include <stdlib.h>
#include <string.h>

#include "check/init.h"

/* Returns false when there is no room for them. */
static bool add_rows(gs_digest_t *digest, unsigned first, unsigned count) {
  for (unsigned reg = first; reg < first + count && reg < GS_VGPRS; reg++) {
    unsigned i = 0;
    while (i < digest->words && digest->word[i] != reg / 64)
      i++;
    if (i == GS_DIGEST_WORDS)
      return false;
    if (i == digest->words)
      digest->word[digest->words++] = (uint8_t)(reg / 64);
    digest->rows[i] |= UINT64_C(1) << reg % 64;
  }
  return true;
}

static void add_scalars(gs_digest_t *digest, unsigned first, unsigned count) {
  for (unsigned reg = first; reg < first + count && reg < GS_S_OPERANDS; reg++)
    digest->scalars[reg / 64] |= UINT64_C(1) << reg % 64;
}

/* Registers of an operand; none where the row has no type, as the decoder leaves such operands alone. */
static unsigned dwords_of(unsigned type) {
  return type == GS_T_MASK ? 2 : gs_type_dwords((gs_type_t)type);
}

static bool add_sources(gs_digest_t *digest, const gs_inst_t *in) {
  for (unsigned i = 0; i < 3; i++) {
    const gs_src_t *s = &in->src[i];
    if (s->kind == GS_SRC_SGPR)
      add_scalars(digest, s->reg, dwords_of(in->op->src[i]));
    if (s->kind == GS_SRC_VGPR && !add_rows(digest, s->reg, dwords_of(in->op->src[i])))
      return false;
  }
  return true;
}

static bool add_results(gs_digest_t *digest, const gs_inst_t *in) {
  const bool compares = in->op->encoding == GS_ENC_VOPC;
  if (compares || in->op->flags & GS_OPF_SDST)
    add_scalars(digest, in->sdst, 2);
  if (compares)
    return true;
  if (in->op->encoding >= GS_ENC_VOP1 && !(in->op->flags & GS_OPF_SCALAR_DST))
    return add_rows(digest, in->dst, dwords_of(in->op->dst));
  add_scalars(digest, in->dst, gs_type_dwords((gs_type_t)in->op->dst));
  return true;
}

/* VCC is no operand of those that always read it. */
static bool reads_vcc(const gs_inst_t *in) {
  return strncmp(in->op->name, "v_div_fmas", 10) == 0 || strncmp(in->op->name, "s_cbranch_vcc", 13) == 0;
}

static bool has_registers_only(const gs_inst_t *in) {
  return in->op && !(in->op->flags & GS_OPF_ILLEGAL) && in->op->encoding <= GS_ENC_VINTERP &&
         in->op->encoding != GS_ENC_SMEM;
}

/* What both of two tools accept: those that want to see fewest come last. */
static gs_passing_t strictest(gs_passing_t one, gs_passing_t other) {
  if (one == GS_PASSES_NOT || other == GS_PASSES_NOT)
    return GS_PASSES_NOT;
  return one == GS_PASSES ? other : one;
}

/* What the instruction uses of memory, which is always to be seen. */
static void make_memory(const gs_wait_t *wait, gs_target_t target, const gs_inst_t *in, gs_digest_t *digest) {
  gs_uses_t uses;
  gs_wait_uses_of_memory(target, in, &wait->rules[in->op - gs_opcodes], &uses);
  for (unsigned i = 0; i < uses.count; i++)
    if (!uses.use[i].vector)
      add_scalars(digest, uses.use[i].first, uses.use[i].count);
    else if (!add_rows(digest, uses.use[i].first, uses.use[i].count))
      return;
  gs_digest_wait(wait, target, in, digest);
  digest->use_count = (uint8_t)uses.count;
  memcpy(digest->use, uses.use, uses.count * sizeof *uses.use);
}

static void make(void *context, gs_target_t target, const gs_inst_t *in, void *made) {
  const gs_check_t *check = context;
  gs_digest_t *digest = made;
  memset(digest, 0, sizeof *digest);
  if (check->wait && in->op && gs_wait_is_memory(&check->wait->rules[in->op - gs_opcodes])) {
    make_memory(check->wait, target, in, digest);
    return;
  }
  if (!has_registers_only(in) || !add_sources(digest, in) || !add_results(digest, in))
    return;
  if (reads_vcc(in))
    add_scalars(digest, GS_S_VCC, 2);
  gs_passing_t init = GS_PASSES, wait = GS_PASSES;
  if (check->init)
    init = gs_digest_flow(check->init, in, digest);
  if (check->wait)
    wait = gs_digest_wait(check->wait, target, in, digest);
  digest->passing = (uint8_t)strictest(init, wait);
}

/* ---- Blocks ---- */

/* What each tool wants to know of a block. */
typedef struct sums {
  gs_init_sum_t init;
  gs_wait_sum_t wait;
} sums_t;

static void *sum_up(void *context, gs_target_t target, const gs_passage_t *block, unsigned count) {
  const gs_check_t *check = context;
  sums_t *sums = calloc(1, sizeof *sums);
  if (!sums)
    return NULL;
  if (check->init)
    gs_init_sum(check->init, target, &sums->init, block, count);
  if (!check->wait || gs_wait_sum(&sums->wait, block, count))
    return sums;
  free(sums);
  return NULL;
}

/* Both tools have to let it pass before either counts it as done. */
static bool pass(gs_wave_t *w, const void *made) {
  const gs_check_t *check = gs_check_of(w);
  const sums_t *sums = made;
  if (check->init && !gs_init_may_pass(w, &sums->init))
    return false;
  if (check->wait && !gs_wait_pass(w, &sums->wait))
    return false;
  if (check->init)
    gs_init_pass(w, &sums->init);
  return true;
}

/* ROCr's own kernels, which "init" alone follows. */
static bool pass_internal(gs_wave_t *w, const void *made) {
  const sums_t *sums = made;
  const bool passes = gs_init_may_pass(w, &sums->init);
  if (passes)
    gs_init_pass(w, &sums->init);
  return passes;
}

void gs_digest_watch(gs_check_t *check) {
  if (!check->init && !check->wait)
    return;
  check->watch.digest = make;
  if (!check->wait || !check->wait->late) {
    check->watch.sum = sum_up;
    check->watch.pass = pass;
    check->internal.pass = pass_internal;
  }
  check->watch.digest_bytes = sizeof(gs_digest_t);
}
