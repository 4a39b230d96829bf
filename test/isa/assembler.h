/* LLVM's assembler, as a library: a process for each text took more time than the tests themselves. */
#ifndef ISA_ASSEMBLER_H
#define ISA_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An object in ELF's format. */
typedef struct isa_object {
  void *buffer; /* LLVM's */
  const uint8_t *bytes;
  size_t size;
} isa_object_t;

/* Assembles text for a processor and features as LLVM spells them ("gfx90a", "+wavefrontsize64"). The object
 * is the caller's, who releases it. False, and no object: `wrong`, which is the caller's to free, says what
 * LLVM says; NULL without memory. */
bool isa_assembler_run(const char *processor, const char *features, const char *text, isa_object_t *object,
                       char **wrong);
void isa_object_release(isa_object_t *object);

/* The two of LLVM 22, for parts that 16 does not know: the same source, in a module that is linked with that
 * library. NULL where there is none. Objects go back to whom they come from. */
typedef struct isa_assembler {
  __typeof__(isa_assembler_run) *run;
  __typeof__(isa_object_release) *release;
} isa_assembler_t;
const isa_assembler_t *isa_assembler_newer(void);

#endif
