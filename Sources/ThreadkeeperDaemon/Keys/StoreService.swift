// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainCore
import Logging
import ServiceLifecycle
import Settings
import Synchronization

/// Does with the store what commands ask for, renews its keys in the background, and locks it when it
/// is idle.
final class StoreService: Service {
  let settings: Settings
  let keychain: Keychain
  let logger: Logger
  let rotation = Mutex(Rotating())
  let isEnding = Mutex(false)
  /// A passphrase takes its time.
  let turns = HandlerQueue("store")
  /// Whoever locks the store waits for none of them.
  let locking = HandlerQueue("lock")
  let notes: LockNotes
  let rotating = DispatchQueue(label: "threadkeeper.rotation", qos: .utility)

  init(_ settings: Settings, keychain: Keychain, logger: Logger) {
    self.settings = settings
    self.keychain = keychain
    self.logger = logger
    notes = LockNotes(keychain, logger: logger)
  }

  func run() async throws {
    goOnRotating()
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      if keychain.lockIfIdle(for: settings.store.lockAfterSeconds) {
        logger.notice("the store is locked", metadata: ["reason": "nothing in it was used"])
        notes.add(.locked, "nothing in it was used", within: .seconds(0))
      }
      do {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(1)) }
      } catch { break }
    }
    isEnding.withLock { $0 = true }
    // A step is short; what is left goes on with the next start.
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      rotating.async { done.resume() }
    }
    await notes.end()
  }
}
