/* What the device support library defines for OpenMP target regions on AMD GPUs: the C library's functions
 * under their own names. It is compiled without the C library's headers, whose declarations are the host's;
 * streams are therefore plain pointers. */
#ifndef SERVICES_H
#define SERVICES_H

#include <stddef.h>
#include <stdint.h>

/* Hides from the compiler where a pointer comes from. OpenMPOpt of clang 16 follows pointers to local
 * variables of the caller into these functions, comes to wrong conclusions about what is there, and removes
 * code. */
static inline void *hide(const void *pointer) {
  __asm__ volatile("" : "+v"(pointer) : : "memory");
  return (void *)(uintptr_t)pointer;
}

/* print.c */
int __llvm_omp_vprintf(const char *format, void *arguments, uint32_t bytes);
int rpc_fprintf(void *stream, const char *format, void *arguments, uint64_t bytes);
int puts(const char *text);
int fputs(const char *text, void *stream);
int putchar(int c);
int fputc(int c, void *stream);
int putc(int c, void *stream);
int fflush(void *stream);
extern void *stdin, *stdout, *stderr;
_Noreturn void __assert_fail(const char *expression, const char *file, unsigned line, const char *function);

/* process.c */
void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void free(void *memory);
_Noreturn void exit(int status);
_Noreturn void abort(void);

/* string.c */
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);
void *memchr(const void *memory, int value, size_t bytes);
size_t strlen(const char *text);
size_t strnlen(const char *text, size_t most);
int strncmp(const char *left, const char *right, size_t most);
int strcmp(const char *left, const char *right);
char *strcpy(char *restrict to, const char *restrict from);
char *strncpy(char *restrict to, const char *restrict from, size_t bytes);
char *strcat(char *restrict to, const char *restrict from);
char *strchr(const char *text, int c);

#endif
