// SPDX-License-Identifier: Apache-2.0

// Takes the place of the C library's `free` and `realloc` in the whole program, Swift's runtime and the libraries
// included: what they give back is zeroed. So nothing of a dataset, password or passphrase stays in the heap when
// nobody uses it any more, whoever had a copy. `mallopt(M_PERTURB)` does not do that: glibc keeps small blocks in a
// cache of each thread (tcache) without overwriting them.
//
// glibc exports its own functions as `__libc_…`. Other C libraries do not, and the sanitizers have a `free` of their own.

#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__GLIBC__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

#include <malloc.h>
#include <string.h>

extern void __libc_free(void *block);
extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *block, size_t size);

/// Blocks from mmap go back to the kernel, which zeroes them (IS_MMAPPED, malloc/malloc.c of glibc).
static int is_mapped(const void *block) { return (((const size_t *)block)[-1] & 2) != 0; }

void free(void *block) {
  if (block && !is_mapped(block)) explicit_bzero(block, malloc_usable_size(block));
  __libc_free(block);
}

void *realloc(void *block, size_t size) {
  if (!block || is_mapped(block)) return __libc_realloc(block, size);
  if (size == 0) {
    free(block);
    return NULL;
  }
  const size_t room = malloc_usable_size(block);
  if (size <= room && size >= room / 2) {
    explicit_bzero((char *)block + size, room - size);
    return block;
  }
  void *other = __libc_malloc(size);
  if (!other) return NULL;
  memcpy(other, block, size < room ? size : room);
  free(block);
  return other;
}

#endif
