/* How the command and DMA processors reach memory: through the address space of their GPU, checked like every
 * other access, so that a bad address in a packet is a GPU memory fault and never a crash of the host
 * program. Also here: what the processors tell their owner. Not here: what is read or written. */
#ifndef GFXSIM_PACKET_BUS_H
#define GFXSIM_PACKET_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vm.h"
#include "exec/device.h"
#include "packet/late.h"

/* Hooks into the owner of the queues, called from queue threads. */
typedef struct gs_packet_ops {
  void *context;
  /* An interrupt with the id of an event (HsaEvent.EventId): wakes whoever waits for it. */
  void (*raise_event)(void *context, uint32_t event_id);
  /* An access that the address space does not allow: raises the process's memory event. The queue has
   * stopped. */
  void (*memory_fault)(void *context, const gs_fault_t *fault);
  /* A DMA engine got a command that it cannot execute: raises the memory event as a hang of the GPU. */
  void (*engine_hang)(void *context);
} gs_packet_ops_t;

/* One processor's connection. Owned by its thread; must not move between init and fini. */
typedef struct gs_bus {
  gs_vm_reader_t reader;
  const gs_vm_map_t *map; /* while entered */
  gs_fault_t fault;       /* of the last access that failed */
  bool no_atomics;        /* read-modify-writes are not one step: the host may write in between */
  gs_late_t late;         /* the processor's chance */
} gs_bus_t;

void gs_bus_init(gs_bus_t *bus, gs_vm_t *vm);
void gs_bus_fini(gs_bus_t *bus);

/* Starts using memory, or moves on to the newest state of the address space: earlier pointers are invalid
 * afterwards. */
void gs_bus_enter(gs_bus_t *bus);
/* Ends using memory: to be called before sleeping and before running a kernel. */
void gs_bus_leave(gs_bus_t *bus);

/* Host address of [address, address + size) with right `access` (GS_VM_*), or NULL after filling bus->fault.
 */
void *gs_bus_at(gs_bus_t *bus, uint64_t address, size_t size, uint32_t access);

/* As gs_bus_at for a word that is shared with others and accessed atomically: an address that is not a
 * multiple of `size` is a fault, too. */
void *gs_bus_word_at(gs_bus_t *bus, uint64_t address, size_t size, uint32_t access);

/* As gs_bus_at for as many of the `wanted` bytes (more than 0) at `address` as one mapping holds; the number
 * of bytes is left in *size. For transfers that cross from one mapping into the next. */
void *gs_bus_span(gs_bus_t *bus, uint64_t address, uint64_t wanted, uint32_t access, uint64_t *size);

/* Copies `size` bytes between host addresses that gs_bus_span returned. Returns false, with the host address
 * in *failed, when the program unmapped the memory behind one of them (it freed memory that it had locked).
 */
bool gs_bus_move(void *to, const void *from, size_t size, uint64_t *failed);

#endif
