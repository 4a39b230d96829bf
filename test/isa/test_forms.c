/* What all vector instructions have in common: short and long forms, SDWA, DPP, op_sel, scalar registers,
 * constants and literals as operands, neg, abs, clamp, omod, partial EXEC. Each opcode of the table is run in
 * every form that it has, and once more in its plainest one, with operands in vector registers that the test
 * has prepared as the form would; the results must agree. Not here: what the plain instruction computes,
 * which the other tests know; so nothing here counts for doc/generated/isa-coverage.md. */
#include "float_model.h"
#include "form_model.h"

#include <ctype.h>

enum { D = 0, SOURCE = 8, TEXT_BYTES = 192, MOST_VARIANTS = 64, MASK_OUT = 20, SCALAR = 6 };

/* ---- Opcodes ---- */

static bool is_float(gs_type_t type) {
  return type == GS_T_F16 || type == GS_T_F32 || type == GS_T_F64;
}
static bool is_half(gs_type_t type) {
  return type == GS_T_F16 || type == GS_T_I16 || type == GS_T_U16 || type == GS_T_B16;
}
static const ref_format_t *format_of(gs_type_t type) {
  return type == GS_T_F16 ? &ref_f16 : type == GS_T_F32 ? &ref_f32 : &ref_f64;
}
static gs_type_t source_type(const gs_opcode_t *op, unsigned i) {
  return (gs_type_t)op->src[i];
}
static unsigned dwords(const gs_opcode_t *op, unsigned i) {
  return gs_type_dwords(source_type(op, i));
}

/* Sources that are written as operands; a mask comes in by VCC. */
static unsigned source_count(const gs_opcode_t *op) {
  unsigned n = 0;
  while (n < 3 && op->src[n] != GS_T_NONE && op->src[n] != GS_T_MASK)
    n++;
  return n;
}
static bool is_wide(const gs_opcode_t *op) {
  bool wide = gs_type_dwords((gs_type_t)op->dst) > 1 && op->encoding != GS_ENC_VOPC;
  for (unsigned i = 0; i < source_count(op); i++)
    wide |= dwords(op, i) > 1;
  return wide;
}

/* Operands that only conversions of gfx950 have (test_gfx950.c). */
static bool is_rare(const gs_opcode_t *op, unsigned i) {
  const unsigned type = op->src[i];
  return gs_type_dwords((gs_type_t)type) > 4 || type == GS_T_BF16 || type == GS_T_V2BF16 ||
         (type == GS_T_V2F32 && op->encoding == GS_ENC_VOP3);
}

/* Instructions on lanes: not those that move between lanes or register files, have literals of their own or
 * no operands. */
static bool is_common(const gs_opcode_t *op) {
  if (op->encoding < GS_ENC_VOP1 || op->encoding > GS_ENC_VOP3P || source_count(op) == 0)
    return false;
  for (unsigned i = 0; i < 3; i++)
    if (op->src[i] == GS_T_K32 || op->src[i] == GS_T_LANE || is_rare(op, i))
      return false;
  return !(op->flags & (GS_OPF_ILLEGAL | GS_OPF_MFMA | GS_OPF_SCALAR_DST | GS_OPF_ACC_FILE)) &&
         op->dst != GS_T_NONE && !strstr(op->name, "swap_b32") && strcmp(op->name, "v_accvgpr_read_b32") != 0;
}
static bool is_short(const gs_opcode_t *op) {
  return op->encoding <= GS_ENC_VOPC;
}
static bool is_long(const gs_opcode_t *op) {
  return op->encoding == GS_ENC_VOP3 || (is_short(op) && !(op->flags & GS_OPF_NO_VOP3));
}
/* Whether VCC is read without being named, so that no other scalar register can be. */
static bool reads_vcc(const gs_opcode_t *op) {
  return op->flags & GS_OPF_VCC_IN || strncmp(op->name, "v_div_fmas", 10) == 0;
}

/* ---- Operands that are the same in all lanes ---- */

typedef struct uniform {
  const char *text32, *text64;
  bool sgpr, is_float, literal;
  uint64_t half, word, wide, wide_float; /* of constants: what a type of 16, 32, 64 bits sees, and a double */
} uniform_t;

static const uniform_t uniforms[] = {
    {"s6", "s[6:7]", true, false, false, 0, 0, 0, 0},
    {"7", "7", false, false, false, 7, 7, 7, 7},
    {"vcc_lo", "vcc", true, false, false, 0, 0, 0, 0},
    {"-9", "-9", false, false, false, 0xfffffff7, 0xfffffff7, UINT64_C(0xfffffffffffffff7),
     UINT64_C(0xfffffffffffffff7)},
    {"-2.0", "-2.0", false, true, false, 0xc000, 0xc0000000, 0, UINT64_C(0xc000000000000000)},
    {"0x4abc", "0x4abc1234", false, false, true, 0x4abc, 0x4abc, 0x4abc1234, UINT64_C(0x4abc123400000000)},
    {"0.15915494309189532", "0.15915494309189532", false, true, false, 0x3118, 0x3e22f983, 0,
     UINT64_C(0x3fc45f306dc9c882)},
};
enum { UNIFORMS = sizeof uniforms / sizeof uniforms[0] };

static bool has_uniform(const gs_opcode_t *op, unsigned i, const uniform_t *u, bool in_short) {
  const gs_type_t type = source_type(op, i);
  const bool paired = type == GS_T_V2F32 || type == GS_T_V2B32;
  if (dwords(op, i) > 2 || (paired && !u->sgpr))
    return false;
  if (u->is_float)
    return is_float(type) || type == GS_T_V2F16 || type == GS_T_MIX;
  if (u->literal)
    return in_short && !reads_vcc(op);
  return !u->sgpr || !reads_vcc(op);
}

/* A lane's bits of the operand. */
static uint64_t uniform_bits(const isa_wave_t *t, gs_type_t type, const uniform_t *u) {
  if (u->sgpr)
    return t->before.w.s.u64[(u->text32[0] == 'v' ? GS_S_VCC : SCALAR) / 2];
  if (type == GS_T_F64)
    return u->wide_float;
  if (gs_type_dwords(type) == 2)
    return u->wide;
  return is_half(type) || type == GS_T_V2F16 ? u->half : u->word;
}

/* ---- Variants ---- */

typedef enum kind { PLAIN, SHORT, UNIFORM, SIGN, RESULT, SDWA, DPP, OP_SEL } kind_t;

typedef struct variant {
  kind_t kind;
  bool in_short;          /* UNIFORM */
  unsigned source, which; /* UNIFORM: which operand is what */
  unsigned sign[3];       /* 1 neg + 2 abs */
  ref_modifiers_t out;
  sdwa_t sdwa;
  dpp_t dpp;
  unsigned op_sel; /* bit 3: of the destination */
  char text[TEXT_BYTES];
} variant_t;

typedef struct variants {
  unsigned count;
  variant_t list[MOST_VARIANTS];
} variants_t;

static void register_text(char *text, size_t size, unsigned reg, unsigned count) {
  if (count == 1)
    (void)snprintf(text, size, "v%u", reg);
  else
    (void)snprintf(text, size, "v[%u:%u]", reg, reg + count - 1);
}

/* "name_suffix results, sources" with operands as the variant has them. */
static size_t base_text(const gs_opcode_t *op, const variant_t *v, const char *suffix, char *text) {
  const bool named = strcmp(suffix, "_e64") == 0 || op->encoding == GS_ENC_VOP3;
  const char *const mask = named ? "s[20:21]" : "vcc";
  const unsigned count = gs_type_dwords((gs_type_t)op->dst);
  char d[16];
  register_text(d, sizeof d, D, count ? count : 1);
  size_t n =
      (size_t)snprintf(text, TEXT_BYTES, "%s%s %s", op->name, op->encoding >= GS_ENC_VOP3 ? "" : suffix,
                       op->encoding == GS_ENC_VOPC ? mask : d);
  if (op->flags & GS_OPF_SDST)
    n += (size_t)snprintf(text + n, TEXT_BYTES - n, ", %s", mask);
  for (unsigned i = 0; i < source_count(op); i++) {
    char s[24];
    register_text(s, sizeof s, SOURCE + 4 * i, dwords(op, i));
    const bool uniform = v->kind == UNIFORM && v->source == i;
    const unsigned sign = v->sign[i];
    const bool sext = v->kind == SDWA && i < 2 && v->sdwa.sext[i];
    n += (size_t)snprintf(text + n, TEXT_BYTES - n, ", %s%s%s%s%s", sign & 1 ? "-" : "",
                          sign & 2 ? "|"
                          : sext   ? "sext("
                                   : "",
                          !uniform             ? s
                          : dwords(op, i) == 2 ? uniforms[v->which].text64
                                               : uniforms[v->which].text32,
                          sign & 2 ? "|" : "", sext ? ")" : "");
  }
  if (op->flags & GS_OPF_VCC_IN)
    n += (size_t)snprintf(text + n, TEXT_BYTES - n, ", vcc");
  return n;
}

static variant_t *add_variant(variants_t *all, const variant_t *v) {
  assert_true(all->count < MOST_VARIANTS);
  all->list[all->count] = *v;
  return &all->list[all->count++];
}

static const char *long_suffix(const gs_opcode_t *op) {
  return is_long(op) ? "_e64" : "_e32";
}

static void add_uniforms(variants_t *all, const gs_opcode_t *op, unsigned number) {
  for (unsigned i = 0; i < source_count(op); i++)
    for (unsigned in_short = 0; in_short < 2; in_short++)
      for (unsigned k = 0, added = 0; k < UNIFORMS && added < 3; k++) {
        const unsigned u = (k + number + i) % UNIFORMS;
        if ((in_short ? !is_short(op) || i > 0 : !is_long(op) && op->encoding != GS_ENC_VOP3P) ||
            !has_uniform(op, i, &uniforms[u], in_short))
          continue;
        variant_t *v =
            add_variant(all, &(variant_t){.kind = UNIFORM, .in_short = in_short, .source = i, .which = u});
        (void)base_text(op, v, in_short ? "_e32" : "_e64", v->text);
        added++;
      }
}

static const char *const omods[] = {"", " mul:2", " mul:4", " div:2"};

static void add_modifiers(variants_t *all, const gs_opcode_t *op) {
  if (!is_long(op))
    return;
  for (unsigned i = 0; i < source_count(op); i++)
    for (unsigned sign = 1; sign < 4 && is_float(source_type(op, i)); sign++) {
      if (sign > 1 && strncmp(op->name, "v_div_scale", 11) == 0)
        continue; /* has no abs */
      variant_t *v = add_variant(all, &(variant_t){.kind = SIGN});
      v->sign[i] = sign;
      (void)base_text(op, v, "_e64", v->text);
    }
  for (unsigned i = 0; i < 4 && op->encoding != GS_ENC_VOPC && is_float((gs_type_t)op->dst); i++) {
    if (!(op->flags & (i ? GS_OPF_OMOD : GS_OPF_CLAMP)))
      continue;
    variant_t *v = add_variant(all, &(variant_t){.kind = RESULT, .out = {i, i == 0}});
    const size_t n = base_text(op, v, "_e64", v->text);
    (void)snprintf(v->text + n, TEXT_BYTES - n, "%s", i ? omods[i] : " clamp");
  }
}

static void add_sdwa(variants_t *all, const gs_opcode_t *op, unsigned number) {
  enum { COUNT = 6, STEP = 1237 };
  for (unsigned k = 0; k < COUNT; k++) {
    variant_t *v = add_variant(
        all, &(variant_t){.kind = SDWA, .sdwa = nth_sdwa((number * COUNT + k) * STEP % SDWA_FORMS)});
    for (unsigned i = 0; i < 2; i++) {
      const bool takes_float = i < source_count(op) && is_float(source_type(op, i));
      v->sdwa.sext[i] = v->sdwa.sext[i] && i < source_count(op) && !takes_float;
      const bool whole =
          takes_float && byte_count(v->sdwa.src_sel[i]) == format_of(source_type(op, i))->bits / 8;
      v->sign[i] = whole ? (number + k) % 4 : 0;
    }
    const bool gives_float = op->encoding != GS_ENC_VOPC && is_float((gs_type_t)op->dst);
    v->out.clamp = gives_float && op->flags & GS_OPF_CLAMP && k > 2;
    v->out.omod = gives_float && op->flags & GS_OPF_OMOD ? (number + k) % 4 : 0;
    size_t n = base_text(op, v, "_sdwa", v->text);
    n += (size_t)snprintf(v->text + n, TEXT_BYTES - n, "%s%s", v->out.clamp ? " clamp" : "",
                          omods[v->out.omod]);
    if (op->encoding != GS_ENC_VOPC)
      n += (size_t)snprintf(v->text + n, TEXT_BYTES - n, " dst_sel:%s dst_unused:%s",
                            selection_names[v->sdwa.dst_sel], unused_names[v->sdwa.dst_unused]);
    n += (size_t)snprintf(v->text + n, TEXT_BYTES - n, " src0_sel:%s", selection_names[v->sdwa.src_sel[0]]);
    if (source_count(op) > 1)
      (void)snprintf(v->text + n, TEXT_BYTES - n, " src1_sel:%s", selection_names[v->sdwa.src_sel[1]]);
  }
}

static void add_dpp(variants_t *all, const gs_opcode_t *op, unsigned number) {
  static const struct {
    const char *text;
    unsigned control;
  } controls[] = {{"row_newbcast:3", 0x153}, {"quad_perm:[3,1,0,2]", 3 | 1 << 2 | 0 << 4 | 2 << 6},
                  {"row_shl:3", 0x103},      {"row_shr:1", 0x111},
                  {"row_ror:5", 0x125},      {"wave_shl:1", 0x130},
                  {"wave_ror:1", 0x13c},     {"row_mirror", 0x140},
                  {"row_bcast:15", 0x142},   {"row_bcast:31", 0x143}};
  enum { CONTROLS = sizeof controls / sizeof controls[0] };
  for (unsigned k = 0; k < (is_wide(op) ? 1 : 4); k++) { /* pairs know the first one only */
    const unsigned c = is_wide(op) ? 0 : 1 + (number + 3 * k) % (CONTROLS - 1);
    const dpp_t d = {controls[c].control, k == 2 ? 0xa : 0xf, k == 3 ? 0x7 : 0xf, k % 2, false};
    variant_t *v = add_variant(all, &(variant_t){.kind = DPP, .dpp = d});
    for (unsigned i = 0; i < 2 && i < source_count(op); i++)
      v->sign[i] = is_float(source_type(op, i)) ? (number + k + i) % 4 : 0;
    const size_t n = base_text(op, v, "_dpp", v->text);
    (void)snprintf(v->text + n, TEXT_BYTES - n, " %s row_mask:0x%x bank_mask:0x%x%s", controls[c].text,
                   d.row_mask, d.bank_mask, d.bound_ctrl ? " bound_ctrl:1" : "");
  }
}

static void add_op_sel(variants_t *all, const gs_opcode_t *op) {
  for (unsigned sel = 1; sel < 16; sel += 2 + sel % 4) {
    unsigned bits = op->flags & GS_OPF_PRESERVE_HI ? sel & 8 : 0;
    for (unsigned i = 0; i < source_count(op); i++)
      bits |= is_half(source_type(op, i)) ? sel & 1u << i : 0;
    variant_t *v = add_variant(all, &(variant_t){.kind = OP_SEL, .op_sel = bits});
    size_t n = base_text(op, v, "_e64", v->text);
    n += (size_t)snprintf(v->text + n, TEXT_BYTES - n, " op_sel:[");
    for (unsigned i = 0; i < source_count(op); i++)
      n += (size_t)snprintf(v->text + n, TEXT_BYTES - n, "%u,", bits >> i & 1);
    (void)snprintf(v->text + n, TEXT_BYTES - n, "%u]", bits >> 3);
  }
}

/* Everything that the opcode can be on the part; the plain form comes first. */
static void list_variants(void **state, const gs_opcode_t *op, unsigned number, variants_t *all) {
  all->count = 0;
  variant_t *plain = add_variant(all, &(variant_t){.kind = PLAIN});
  (void)base_text(op, plain, long_suffix(op), plain->text);
  if (is_short(op) && is_long(op)) {
    variant_t *v = add_variant(all, &(variant_t){.kind = SHORT});
    (void)base_text(op, v, "_e32", v->text);
  }
  add_uniforms(all, op, number);
  add_modifiers(all, op);
  if (is_short(op) && !is_wide(op) && !(op->flags & (GS_OPF_NO_SDWA | GS_OPF_SRC_SEL)))
    add_sdwa(all, op, number);
  if (is_short(op) && op->encoding != GS_ENC_VOPC && !(op->flags & GS_OPF_NO_DPP) &&
      (!is_wide(op) || (isa_part(state) & GS_CDNA2_4)))
    add_dpp(all, op, number);
  if (op->flags & GS_OPF_OP_SEL)
    add_op_sel(all, op);
}

/* ---- Running ---- */

static uint64_t edge(gs_type_t type, uint64_t *seed) {
  const uint64_t r = isa_random(seed), next = isa_random(seed);
  const uint32_t low = isa_f16_edges[next % isa_f16_edge_count] & 0xffff;
  if (r >> 62 == 0)
    return next;
  switch (type) {
  case GS_T_F64: return isa_f64_edges[r % isa_f64_edge_count];
  case GS_T_F16: return isa_f16_edges[r % isa_f16_edge_count];
  case GS_T_V2F16: return low | (uint64_t)isa_f16_edges[r % isa_f16_edge_count] << 16;
  case GS_T_F32:
  case GS_T_MIX: return isa_f32_edges[r % isa_f32_edge_count];
  case GS_T_B64:
  case GS_T_I64:
  case GS_T_U64: return isa_u64_edges[r % isa_u64_edge_count];
  case GS_T_V2F32:
    return isa_f32_edges[r % isa_f32_edge_count] | (uint64_t)isa_f32_edges[(r >> 32) % isa_f32_edge_count]
                                                       << 32;
  default: return isa_u32_edges[r % isa_u32_edge_count];
  }
}

/* A lane's operand `i` as the variant makes it of what is in the registers. */
static uint64_t effective(const isa_wave_t *t, const gs_opcode_t *op, const variant_t *v, unsigned i,
                          unsigned lane) {
  const gs_row_t *const r = &t->before.v[SOURCE + 4 * i];
  const gs_type_t type = source_type(op, i);
  uint64_t x = dwords(op, i) > 1 ? isa_u64(r, lane) : r->u32[lane];
  uint32_t low, high;
  if (v->kind == UNIFORM && v->source == i)
    return uniform_bits(t, type, &uniforms[v->which]);
  if (v->kind == SDWA && i < 2)
    x = sdwa_read((uint32_t)x, v->sdwa.src_sel[i], v->sdwa.sext[i]);
  if (v->kind == OP_SEL && v->op_sel >> i & 1)
    x >>= 16;
  if (v->kind == DPP && i == dpp_operand(t->env.target, op->name)) {
    (void)dpp_read(t, &v->dpp, SOURCE + 4 * i, lane, &low);
    (void)dpp_read(t, &v->dpp, SOURCE + 4 * i + 1, lane, &high);
    x = dwords(op, i) > 1 ? low | (uint64_t)high << 32 : low;
  }
  if (v->sign[i] & 2)
    x &= ~ref_sign(format_of(type));
  return v->sign[i] & 1 ? x ^ ref_sign(format_of(type)) : x;
}

/* The destination after the plain result `r` was written to it as the variant does. */
static uint64_t written(const gs_opcode_t *op, const variant_t *v, uint64_t old, uint64_t r, uint32_t mode) {
  if (op->encoding != GS_ENC_VOPC && is_float((gs_type_t)op->dst)) {
    const ref_format_t *const f = format_of((gs_type_t)op->dst);
    const uint64_t above = f->bits == 16 ? r & 0xffff0000 : 0;
    r = above | ref_modify(f, r ^ above, v->out, mode);
  }
  if (v->kind == SDWA)
    return sdwa_write((uint32_t)old, (uint32_t)r, v->sdwa.dst_sel, v->sdwa.dst_unused);
  return v->kind == OP_SEL && v->op_sel & 8 ? (old & 0xffff) | (r & 0xffff) << 16 : r;
}

/* What an instruction left behind. */
typedef struct outcome {
  gs_row_t d[4];
  uint64_t mask, exec; /* of the mask's register, and EXEC */
} outcome_t;

static unsigned mask_register(const gs_opcode_t *op, const variant_t *v) {
  const bool named = op->encoding == GS_ENC_VOP3 ||
                     (v->kind != SHORT && v->kind != SDWA && v->kind != DPP && !v->in_short && is_long(op));
  return named ? MASK_OUT : GS_S_VCC;
}
static bool has_mask(const gs_opcode_t *op) {
  return op->encoding == GS_ENC_VOPC || op->flags & GS_OPF_SDST;
}

static void run(isa_wave_t *t, const gs_opcode_t *op, const variant_t *v, outcome_t *out) {
  char changed[64];
  const unsigned count = gs_type_dwords((gs_type_t)op->dst), mask = mask_register(op, v);
  int n = 0;
  changed[0] = '\0';
  assert_int_equal(isa_run(t, v->text), GS_WAVE_RUNNING);
  memcpy(out->d, t->v, sizeof out->d);
  out->mask = isa_s64(t, mask);
  out->exec = gs_exec(&t->w);
  if (op->encoding != GS_ENC_VOPC)
    n = snprintf(changed, sizeof changed, "v[%d:%u]", D, D + (count ? count : 1) - 1);
  if (has_mask(op))
    n += snprintf(changed + n, sizeof changed - (size_t)n, mask == MASK_OUT ? " s[20:21]" : " vcc");
  if (op->flags & GS_OPF_CMPX)
    (void)snprintf(changed + n, sizeof changed - (size_t)n, " exec");
  isa_assert_only_changed(t, changed);
}

/* The lane's bit in the mask of a carry or comparison. DPP's row and bank masks do not matter to carries,
 * which stay where there is no source. */
static bool mask_bit(isa_wave_t *then, const gs_opcode_t *op, const variant_t *v, unsigned lane, bool written,
                     const outcome_t *plain) {
  const bool bit = plain->mask >> lane & 1;
  uint32_t ignored;
  if (v->kind != DPP || op->encoding == GS_ENC_VOPC)
    return written && bit;
  const dpp_t unmasked = {v->dpp.control, 0xf, 0xf, v->dpp.bound_ctrl, false};
  const bool old = then->before.w.s.u64[GS_S_VCC / 2] >> lane & 1;
  return gs_exec(&then->before.w) >> lane & 1 &&
         (dpp_read(then, &unmasked, SOURCE, lane, &ignored) ? bit : old);
}

static void fail_lane(const isa_wave_t *t, const variant_t *v, unsigned lane, const char *what, uint64_t got,
                      uint64_t want) {
  fail_msg("%s: %s (mode 0x%x, lane %u): %s is 0x%llx, not 0x%llx", gs_target_name(t->env.target), v->text,
           t->w.mode, lane, what, (unsigned long long)got, (unsigned long long)want);
}

/* Compares the variant's outcome with that of the plain form, which all lanes have executed. */
static void compare(const isa_wave_t *t, const gs_opcode_t *op, const variant_t *v,
                    const isa_registers_t *before, const outcome_t *got, const outcome_t *plain) {
  const uint64_t exec = gs_exec(&before->w);
  const unsigned count = op->encoding == GS_ENC_VOPC ? 0 : gs_type_dwords((gs_type_t)op->dst);
  isa_wave_t *const then = (isa_wave_t *)(uintptr_t)t; /* whose `before` is the variant's again */
  then->before = *before;
  for (unsigned l = 0; l < GS_LANES; l++) {
    uint32_t ignored;
    const bool active = v->kind == DPP ? dpp_read(then, &v->dpp, SOURCE, l, &ignored) : exec >> l & 1;
    const bool wide = count == 2;
    const uint64_t old = wide ? isa_u64(before->v, l) : before->v[D].u32[l];
    const uint64_t r = wide ? isa_u64(plain->d, l) : plain->d[0].u32[l];
    const uint64_t want = active ? written(op, v, old, r, before->w.mode) : old;
    const uint64_t is = wide ? isa_u64(got->d, l) : got->d[0].u32[l];
    if (count && is != want)
      fail_lane(t, v, l, "result", is, want);
    for (unsigned k = 1; k < count && count > 2; k++)
      assert_int_equal(got->d[k].u32[l], (active ? plain->d : before->v)[k].u32[l]);
    const bool bit = mask_bit(then, op, v, l, active, plain);
    if (has_mask(op) && (got->mask >> l & 1) != bit)
      fail_lane(t, v, l, "mask", got->mask >> l & 1, bit);
    if (op->flags & GS_OPF_CMPX && (got->exec >> l & 1) != bit)
      fail_lane(t, v, l, "exec", got->exec >> l & 1, bit);
  }
}

static void check_variant(isa_wave_t *t, isa_registers_t *before, const gs_opcode_t *op,
                          const variants_t *all, unsigned number, unsigned run_number) {
  static const uint64_t execs[] = {UINT64_MAX, UINT64_C(0x0123456789abcdef), 0, UINT64_C(1) << 63,
                                   UINT64_C(0xfffffffeffff7fff)};
  static const uint32_t modes[] = {0x3f0, 0x100, 0x3a5, 0x1f0};
  const variant_t *const v = &all->list[number];
  uint64_t seed = number * 8 + run_number, vcc = 0;
  outcome_t got, plain;
  for (unsigned r = 0; r < SOURCE + 12; r++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      const unsigned i = (r - SOURCE) / 4;
      const gs_type_t type = r >= SOURCE && i < source_count(op) ? source_type(op, i) : GS_T_U32;
      if (r % 2 == 0)
        isa_set_u64(&t->v[r], l, edge(type, &seed));
    }
  vcc = isa_random(&seed);
  isa_set_s64(t, GS_S_VCC, vcc);
  isa_set_s64(t, SCALAR, edge(source_type(op, v->kind == UNIFORM ? v->source : 0), &seed));
  gs_set_exec(&t->w, execs[(number + run_number) % 5]);
  gs_wave_set_mode(&t->w, modes[run_number % 4]);
  run(t, op, v, &got);
  *before = t->before;
  gs_row_t prepared[12];
  memcpy(prepared, &t->before.v[SOURCE], sizeof prepared);
  for (unsigned i = 0; i < source_count(op); i++)
    for (unsigned l = 0; l < GS_LANES; l++) {
      const uint64_t x = dwords(op, i) <= 2 ? effective(t, op, v, i, l) : 0;
      if (dwords(op, i) == 1)
        prepared[4 * i].u32[l] = (uint32_t)x;
      else if (dwords(op, i) == 2)
        isa_set_u64(&prepared[4 * i], l, x);
    }
  memcpy(t->v, before->v, sizeof t->v);
  memcpy(&t->v[SOURCE], prepared, sizeof prepared);
  t->w.s = before->w.s;
  gs_set_exec(&t->w, UINT64_MAX);
  run(t, op, &all->list[0], &plain);
  compare(t, op, v, before, &got, &plain);
}

static void run_encoding(void **state, unsigned first, unsigned last) {
  const size_t most = gs_opcode_count;
  variants_t *const all = calloc(most, sizeof *all);
  const char **const texts = calloc(most * MOST_VARIANTS, sizeof *texts);
  isa_registers_t *const before = aligned_alloc(_Alignof(isa_registers_t), sizeof *before);
  assert_true(all && texts && before);
  size_t n = 0;
  for (size_t i = 0; i < most; i++) {
    const gs_opcode_t *const op = &gs_opcodes[i];
    if (op->encoding < first || op->encoding > last || !(op->targets & isa_part(state)) || !is_common(op))
      continue;
    list_variants(state, op, (unsigned)i, &all[i]);
    for (unsigned k = 0; k < all[i].count; k++)
      texts[n++] = all[i].list[k].text;
  }
  assert_true(n > 0);
  isa_prepare(state, ISA_PART, texts, sizeof *texts, n);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < most; i++)
    for (unsigned k = 0; k < all[i].count; k++)
      for (unsigned r = 0; r < 2; r++)
        check_variant(t, before, &gs_opcodes[i], &all[i], k, 2 * (k % 2) + r);
  isa_free(t);
  free(before);
  free(texts);
  free(all);
}

static void test_short(void **state) {
  run_encoding(state, GS_ENC_VOP1, GS_ENC_VOP2);
}
static void test_comparisons(void **state) {
  run_encoding(state, GS_ENC_VOPC, GS_ENC_VOPC);
}
static void test_long(void **state) {
  run_encoding(state, GS_ENC_VOP3, GS_ENC_VOP3P);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_part_test(test_short),
      isa_part_test(test_comparisons),
      isa_part_test(test_long),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
