// SPDX-License-Identifier: Apache-2.0

/// What commits leave behind for later: the anchor, and the erasure of what was deleted.
struct StoreUpkeep: Sendable {
  /// How long what is done last waits for other processes, in nanoseconds.
  static let lastWait: UInt64 = 1_000_000_000

  let access: Keychain.Access
  let health: StoreHealth
  let anchor: AnchorWriter
  let erasure: LogErasure

  /// Whether a call has left something for `run` to do.
  var isOwed: Bool {
    guard access != .readOnly else { return false }
    return erasure.isOwed || anchor.isBehind && health.condition == .healthy
  }

  /// - Parameter limit: how long to wait for another process's lock, in nanoseconds.
  func run(waiting limit: UInt64) throws(KeychainError) {
    guard access != .readOnly else { return }
    // What was deleted has to go, whatever becomes of the anchor.
    if case .healthy = health.condition { anchor.flush(waiting: limit) }
    _ = try erasure.run()
  }
}
