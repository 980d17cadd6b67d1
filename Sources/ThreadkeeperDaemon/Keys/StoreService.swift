// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainCore
import Logging
import ServiceLifecycle
import Settings
import Synchronization

/// Does with the store what commands ask for, and renews its keys in the background.
final class StoreService: Service {
  let settings: Settings
  let keychain: Keychain
  let logger: Logger
  let rotation = Mutex(Rotating())
  let isEnding = Mutex(false)
  /// A passphrase takes its time.
  let turns = HandlerQueue("store")
  let rotating = DispatchQueue(label: "threadkeeper.rotation", qos: .utility)

  init(_ settings: Settings, keychain: Keychain, logger: Logger) {
    self.settings = settings
    self.keychain = keychain
    self.logger = logger
  }

  func run() async throws {
    goOnRotating()
    try? await gracefulShutdown()
    isEnding.withLock { $0 = true }
    // A step is short; what is left goes on with the next start.
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      rotating.async { done.resume() }
    }
  }
}
