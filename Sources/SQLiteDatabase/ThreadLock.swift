// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock that knows its holder, so that a write inside of a write is an error and no standstill.
// Unchecked because the mutex is made for being shared; its memory never moves.
final class ThreadLock: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init() {
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ERRORCHECK))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<R>(_ body: () throws -> R) throws -> R {
    guard pthread_mutex_lock(mutex) == 0 else {
      throw SQLiteError.misuse(
        "this thread is at work with the database: a write inside of a write")
    }
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }
}
