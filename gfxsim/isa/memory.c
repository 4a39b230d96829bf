/* The uncommon ways to memory: accesses that leave the mapping where the last one was, lie in several
 * mappings or apertures, or must be put together from pieces; and scalar accesses. Not here: the common way
 * (memory.h), which is compiled into the instructions. */
#include "isa/memory.h"

#include "isa/guest.h"

static const gs_vm_map_t *wave_map(const gs_wave_t *w) {
  return atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed);
}

static void fault(gs_wave_t *w, uint64_t address, uint32_t rights, unsigned lane) {
  gs_wave_fault(w, address >> 48 ? GS_WAVE_FAULT_APERTURE : GS_WAVE_FAULT_MEMORY, address, rights, lane);
}

/* The slow paths do not look where addresses lie before they know that the snapshot is the newest, in whose
 * gaps nothing is mapped. Faults the wave if it is not: the executor moves on to the newest and repeats the
 * instruction, which no lane has been served by yet. */
static bool is_up_to_date(gs_wave_t *w, uint64_t address, uint32_t rights, unsigned lane) {
  if (GS_LIKELY(!gs_vm_reader_is_behind(w->env->vm)))
    return true;
  gs_wave_fault(w, GS_WAVE_FAULT_MEMORY, address, rights, lane);
  return false;
}

static bool lanes_are_up_to_date(gs_wave_t *w, const gs_access_t *a) {
  const unsigned lane = (unsigned)__builtin_ctzll(a->lanes);
  return is_up_to_date(w, a->at[lane], a->rights, lane);
}

static bool range_has(const gs_vm_range_t *range, uint64_t address, uint64_t span, uint32_t rights) {
  return range && address >= range->start && address < range->end && range->end - address >= span &&
         (range->access & rights) == rights;
}

static uint64_t range_host(const gs_vm_range_t *range, uint64_t address) {
  return (uint64_t)(uintptr_t)range->host + (address - range->start);
}

/* Device address of a lane's byte `i`. Swizzled memory begins at a multiple of 4. */
static uint64_t byte_address(uint64_t address, unsigned step, unsigned i) {
  if (step == GS_LINEAR_STEP)
    return address + i;
  const unsigned offset = (unsigned)(address & 3) + i;
  return (address & ~UINT64_C(3)) + (uint64_t)(offset / 4) * step + offset % 4;
}

/* Where each byte of a lane is in this process. Faults the wave at the first one that is nowhere. */
static bool find_bytes(gs_wave_t *w, const gs_access_t *a, unsigned bytes, unsigned lane, uint64_t address,
                       unsigned step, uint64_t host[GS_ACCESS_BYTES]) {
  const gs_vm_range_t *range = NULL;
  for (unsigned i = 0; i < bytes; i++) {
    const uint64_t at = byte_address(address, step, i);
    if (!range_has(range, at, 1, a->rights))
      range = gs_vm_find(wave_map(w), at);
    if (!range_has(range, at, 1, a->rights)) {
      fault(w, at, a->rights, lane);
      return false;
    }
    host[i] = range_host(range, at);
  }
  return true;
}

static bool is_together(const uint64_t *host, unsigned count) {
  for (unsigned i = 1; i < count; i++)
    if (host[i] != host[0] + i)
      return false;
  return true;
}

/* How many of the bytes from host[0] on are one item: as many as are naturally aligned, at most `most`. */
static unsigned item_bytes(const uint64_t *host, unsigned most) {
  unsigned bytes = 8;
  while (bytes > 1 && (bytes > most || host[0] % bytes || !is_together(host, bytes)))
    bytes /= 2;
  return bytes;
}

static void copy_item(uint64_t to, uint64_t from, unsigned bytes) {
  switch (bytes) {
  case 8: gs_guest_put64(to, gs_guest_get64(from)); break;
  case 4: gs_guest_put32(to, gs_guest_get32(from)); break;
  case 2: gs_guest_put16(to, gs_guest_get16(from)); break;
  default: gs_guest_put8(to, gs_guest_get8(from));
  }
}

/* Copies bytes that are not together in this process from or to a copy of them that is; what is naturally
 * aligned in one go. */
static void copy_bytes(const uint64_t *host, uint8_t *copy, unsigned bytes, bool write) {
  for (unsigned i = 0, size; i < bytes; i += size) {
    const uint64_t here = (uint64_t)(uintptr_t)(copy + i);
    size = item_bytes(host + i, bytes - i);
    copy_item(write ? host[i] : here, write ? here : host[i], size);
  }
}

/* Resolves one lane: straight, or through its bounce buffer if its bytes are not together or `bounce` wants
 * it. */
static bool place_lane(gs_wave_t *w, gs_access_t *a, unsigned lane, uint64_t address, unsigned step,
                       bool bounce) {
  uint64_t host[GS_ACCESS_BYTES];
  const unsigned bytes = a->bytes;
  assert(bytes && bytes <= GS_ACCESS_BYTES);
  if (!find_bytes(w, a, bytes, lane, address, step, host))
    return false;
  if (!bounce && is_together(host, bytes)) {
    a->at[lane] = host[0];
    return true;
  }
  a->bounced |= UINT64_C(1) << lane;
  a->device[lane] = address;
  a->device_step[lane] = (uint16_t)step;
  a->at[lane] = (uint64_t)(uintptr_t)a->bounce[lane];
  if (a->rights & GS_VM_READ)
    copy_bytes(host, a->bounce[lane], bytes, false);
  return true;
}

/* Resolves all lanes if each lies in one mapping. Does nothing if it returns false. */
static bool place_straight(gs_wave_t *w, gs_access_t *a) {
  const gs_vm_map_t *map = wave_map(w);
  const uint64_t span = gs_access_span(a);
  const unsigned piece = a->bytes < 4 ? a->bytes : 4;
  const gs_vm_range_t *range = NULL;
  uint64_t host[GS_LANES];
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    if (a->step != GS_LINEAR_STEP && (a->at[l] & 3) + piece > 4)
      return false;
    if (!range_has(range, a->at[l], span, a->rights))
      range = gs_vm_find(map, a->at[l]);
    if (!range_has(range, a->at[l], span, a->rights))
      return false;
    host[l] = range_host(range, a->at[l]);
  }
  *gs_range_found(w) = range;
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    a->at[l] = host[l];
  }
  return true;
}

/* Resolves lanes that are not all straight. */
static bool place_lanes(gs_wave_t *w, gs_access_t *a, const uint64_t address[GS_LANES], unsigned step,
                        bool bounce) {
  a->bounced = 0;
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    if (!place_lane(w, a, l, address[l], step, bounce))
      return false;
  }
  return true;
}

bool gs_resolve_slow(gs_wave_t *w, gs_access_t *a) {
  if (!lanes_are_up_to_date(w, a))
    return false;
  if (!place_straight(w, a)) {
    const unsigned step = a->step;
    uint64_t address[GS_LANES];
    memcpy(address, a->at, sizeof address);
    a->step = GS_LINEAR_STEP;
    if (!place_lanes(w, a, address, step, false))
      return false;
    /* Bounced lanes are written after the others. Where lanes overlap the later lane must win: bounce them
     * all. */
    if (a->rights == GS_VM_WRITE && a->bounced && a->bounced != a->lanes &&
        !place_lanes(w, a, address, step, true))
      return false;
  }
  gs_access_fill(w, a);
  gs_access_measure(a, gs_access_dense_stride(a));
  return true;
}

bool gs_resolve_lds_slow(gs_wave_t *w, gs_access_t *a) {
  const uint64_t base = (uint64_t)(uintptr_t)w->env->lds;
  const uint64_t size = w->env->lds_bytes;
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    if (a->at[l] < size && size - a->at[l] >= a->bytes)
      a->at[l] += base;
    else
      a->zero |= UINT64_C(1) << l;
  }
  a->lanes &= ~a->zero;
  if (a->lanes)
    gs_access_fill(w, a);
  return true;
}

bool gs_resolve_mixed(gs_wave_t *w, gs_access_t *a) {
  const uint64_t lds = (uint64_t)(uintptr_t)w->env->lds;
  const uint64_t lds_bytes = w->env->lds_bytes;
  if (a->lanes && !lanes_are_up_to_date(w, a))
    return false;
  a->step = GS_LINEAR_STEP;
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint32_t offset = (uint32_t)a->at[l];
    bool good = true;
    switch (a->at[l] >> 32) {
    case GS_SHARED_APERTURE_HI:
      if (offset < lds_bytes && lds_bytes - offset >= a->bytes)
        a->at[l] = lds + offset;
      else
        a->zero |= UINT64_C(1) << l;
      break;
    case GS_PRIVATE_APERTURE_HI:
      good = place_lane(w, a, l, gs_private_address(w, offset) + 4u * l, GS_PRIVATE_STEP, false);
      break;
    default: good = place_lane(w, a, l, a->at[l], GS_LINEAR_STEP, false);
    }
    if (!good)
      return false;
  }
  a->lanes &= ~a->zero;
  if (a->lanes)
    gs_access_fill(w, a);
  return true;
}

bool gs_access_check_alignment(gs_wave_t *w, const gs_access_t *a, unsigned size) {
  uint64_t bits = 0;
  for (unsigned l = 0; l < GS_LANES; l++)
    bits |= a->at[l];
  if (!(bits & (size - 1)))
    return true;
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    if (a->at[l] & (size - 1)) {
      gs_wave_fault(w, GS_WAVE_FAULT_APERTURE, a->at[l], a->rights, l);
      return false;
    }
  }
  return true;
}

void gs_access_write_back(gs_wave_t *w, gs_access_t *a) {
  uint64_t host[GS_ACCESS_BYTES];
  const unsigned bytes = a->bytes;
  for (uint64_t left = a->bounced & a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    if (!find_bytes(w, a, bytes, l, a->device[l], a->device_step[l], host))
      return;
    copy_bytes(host, a->bounce[l], bytes, true);
  }
}

void *gs_resolve_scalar(gs_wave_t *w, uint64_t address, unsigned size, uint32_t access) {
  const gs_vm_map_t *map = wave_map(w);
  const gs_vm_range_t **const found = gs_range_found(w), *range = *found;
  if (GS_UNLIKELY(!range_has(range, address, size, access)))
    range = gs_vm_find(map, address);
  if (GS_LIKELY(range_has(range, address, size, access)) && !gs_range_is_old(w, range)) {
    *found = range;
    return (void *)(uintptr_t)range_host(range, address);
  }
  if (!is_up_to_date(w, address, access, GS_LANES))
    return NULL;
  uint64_t host[sizeof w->scalar_copy];
  assert(size && size <= sizeof w->scalar_copy);
  bool together = true;
  for (unsigned i = 0; i < size; i++) {
    if (!range_has(range, address + i, 1, access))
      range = gs_vm_find(map, address + i);
    /* In two pieces: reads only. */
    host[i] = range_has(range, address + i, 1, access) ? range_host(range, address + i) : 0;
    together = together && host[i] == host[0] + i;
    if (!host[i] || (!together && (access & GS_VM_WRITE))) {
      fault(w, address + i, access, GS_MAX_LANES);
      return NULL;
    }
  }
  if (together)
    return (void *)(uintptr_t)host[0];
  copy_bytes(host, (uint8_t *)w->scalar_copy, size, false);
  return w->scalar_copy;
}

uint32_t gs_lds_direct(const gs_wave_t *w) {
  static const struct {
    uint8_t size;
    bool is_signed;
  } types[8] = {{1, false}, {2, false}, {4, false}, {0, false}, {1, true}, {2, true}, {0, false}, {0, false}};
  const uint32_t m0 = w->s.u32[GS_S_M0];
  const uint32_t offset = m0 & 0xffff;
  const unsigned size = types[m0 >> 16 & 7].size;
  if (offset >= w->env->lds_bytes || w->env->lds_bytes - offset < size)
    return 0;
  uint32_t value = 0;
  memcpy(&value, w->env->lds + offset, size);
  if (types[m0 >> 16 & 7].is_signed)
    value = size == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
  return value;
}
