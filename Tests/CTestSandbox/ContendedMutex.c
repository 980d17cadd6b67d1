/*
 * Tells the thread sanitizer about the waits of Swift's `Mutex`.
 *
 * Locking and unlocking is one atomic exchange in the caller, which is compiled for the sanitizer. When another thread
 * has the mutex, the caller calls the library Synchronization, which is not: what the mutex orders then would look like
 * a race. So these two functions of the library are called from here, with a note before or after.
 */

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Synchronization._MutexHandle._lockSlow(UInt32) and _unlockSlow(). The handle is where the atomic exchange is done. */
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void Lock(uint32_t thread, SELF void *handle);
typedef SWIFT void Unlock(SELF void *handle);

void __tsan_acquire(void *address);
void __tsan_release(void *address);

SWIFT void contended_lock(uint32_t thread, SELF void *handle) __asm__(LOCK);
SWIFT void contended_unlock(SELF void *handle) __asm__(UNLOCK);

static Lock *library_lock;
static Unlock *library_unlock;

static void *next(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (function == NULL) {
    fprintf(stderr, "error: no %s in the libraries of Swift\n", name);
    abort();
  }
  return function;
}

/* Before all other constructors: a mutex may be used in one. */
__attribute__((constructor(101))) static void find_library(void) {
  library_lock = (Lock *)next(LOCK);
  library_unlock = (Unlock *)next(UNLOCK);
}

SWIFT void contended_lock(uint32_t thread, SELF void *handle) {
  library_lock(thread, handle);
  __tsan_acquire(handle);
}

SWIFT void contended_unlock(SELF void *handle) {
  __tsan_release(handle);
  library_unlock(handle);
}

#endif
#endif
