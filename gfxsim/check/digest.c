/* See digest.h. */
#include "check/digest.h"

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

/* Registers of an operand: at least one, as some rows do not tell. */
static unsigned dwords_of(unsigned type) {
  const unsigned dwords = type == GS_T_MASK ? 2 : gs_type_dwords((gs_type_t)type);
  return dwords ? dwords : 1;
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

static void make(void *context, gs_target_t target, const gs_inst_t *in, void *made) {
  const gs_check_t *check = context;
  gs_digest_t *digest = made;
  memset(digest, 0, sizeof *digest);
  if (!has_registers_only(in) || !add_sources(digest, in) || !add_results(digest, in))
    return;
  if (reads_vcc(in))
    add_scalars(digest, GS_S_VCC, 2);
  if (check->init)
    gs_digest_flow(check->init, in, digest);
  if (check->wait)
    gs_digest_wait(check->wait, target, in, digest);
}

void gs_digest_watch(gs_check_t *check) {
  if (!check->init && !check->wait)
    return;
  check->watch.digest = make;
  if (!check->init && !check->wait->late) {
    check->watch.sum = gs_wait_sum;
    check->watch.pass = gs_wait_pass;
  }
  check->watch.digest_bytes = sizeof(gs_digest_t);
}
