// SPDX-License-Identifier: Apache-2.0

import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Does what calls leave undone, so that a program that calls nothing any more owes nothing: the last
/// generation is in the anchor, and what was deleted is out of the log.
final class StoreUpkeep: Sendable {
  private static let longestPause = 60

  private let keychain: Keychain
  private let isPlanned = Locked(false)
  private let process = getpid()

  init(_ keychain: Keychain) { self.keychain = keychain }

  /// Called after each call: something is done in a second, if it has to be. What cannot be done then
  /// is tried again after longer and longer pauses.
  func plan(after seconds: Int = 1) {
    guard keychain.owesUpkeep else { return }
    let isNew = isPlanned.withLock { isPlanned in
      defer { isPlanned = true }
      return !isPlanned
    }
    guard isNew else { return }
    // Weakly: a keychain that is closed does it then, and its keys do not stay for this.
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(seconds)) {
      [weak self] in
      guard let self else { return }
      try? keychain.tick()
      isPlanned.withLock { $0 = false }
      plan(after: min(seconds * 2, Self.longestPause))
    }
  }

  /// Does it now, because the program ends. A child of the program that is no program of its own leaves
  /// the parent's store alone.
  func finish() {
    guard process == getpid(), keychain.owesUpkeep else { return }
    try? keychain.lastTick()
  }
}
