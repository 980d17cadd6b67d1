// Takes the place of the C library's `free` and `realloc` in the whole program, Swift's runtime and the libraries
// included: what they give back is zeroed. So nothing of a dataset, password or passphrase stays in the heap when
// nobody uses it any more, whoever had a copy. `mallopt(M_PERTURB)` does not do that: glibc keeps small blocks in a
// cache of each thread (tcache) without overwriting them.
//
// glibc exports its own functions as `__libc_…`. Other C libraries do not, and the sanitizers have a `free` of their own.
// Where an allocator is preloaded, blocks are its own: it gets them back as they are. Only `libc_malloc_debug.so` is not
// noticed, because dlsym finds none of its names.

#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__GLIBC__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <string.h>

extern void __libc_free(void *block);
extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *block, size_t size);

/// A preloaded allocator's; null where blocks are glibc's.
static void (*preloaded_free)(void *block);
static void *(*preloaded_realloc)(void *block, size_t size);
/// The second word of each block in the tcache, by which glibc finds that a block is freed twice. 0: no tcache.
static size_t tcache_key;

/// Not in a constructor: those of the libraries run before, and free.
static void learn(void) {
  static bool is_done;
  if (is_done) return;
  is_done = true;
  if (dlsym(RTLD_DEFAULT, "malloc") != dlsym(RTLD_DEFAULT, "__libc_malloc")) {
    preloaded_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    preloaded_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    return;
  }
  // Otherwise glibc raises both with each large block that is freed, and keeps so much at the end of each thread's heap,
  // which `malloc_trim` does not give back either. What a batch of messages needs is less.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 2 << 20);
  volatile size_t *block = __libc_malloc(2 * sizeof(size_t));
  if (!block) return;
  block[1] = 0;
  __libc_free((void *)block);
  tcache_key = block[1];
}

/// Blocks from mmap go back to the kernel, which zeroes them (IS_MMAPPED, malloc/malloc.c of glibc).
static bool is_mapped(const void *block) { return (((const size_t *)block)[-1] & 2) != 0; }

/// Such a block was freed already: zeroed, glibc would not find that and end the program.
static bool is_in_tcache(const void *block) { return tcache_key && ((const size_t *)block)[1] == tcache_key; }

void free(void *block) {
  learn();
  if (preloaded_free) {
    preloaded_free(block);
    return;
  }
  if (block && !is_mapped(block) && !is_in_tcache(block)) explicit_bzero(block, malloc_usable_size(block));
  __libc_free(block);
}

void *realloc(void *block, size_t size) {
  learn();
  if (preloaded_realloc) return preloaded_realloc(block, size);
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
  // A block that grows in small steps is not to be copied at each: glibc would extend it in place.
  const size_t ample = size > room && size <= SIZE_MAX / 2 ? size + size / 2 : size;
  void *other = __libc_malloc(ample);
  if (!other && ample > size) other = __libc_malloc(size);
  if (!other) return NULL;
  memcpy(other, block, size < room ? size : room);
  free(block);
  return other;
}

#endif
