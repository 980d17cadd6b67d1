// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import LocalAPI
import Settings
import ThreadkeeperDaemon

/// Has something done with the keys of the store: by the daemon that holds it, or without one in the store itself.
struct StoreClient: Sendable {
  /// A passphrase takes the daemon a second, on a slow machine ten.
  private static let timeout = Duration.seconds(120)

  let settings: Settings
  private var daemon: DaemonClient { DaemonClient(settings: settings) }

  func list() async throws -> ListKeySlots.Reply {
    try await DaemonClient.orStore(isRepeatable: true) {
      try await daemon.performIfThere(ListKeySlots(), within: Self.timeout)
    } store: {
      let keychain = try OpenStore.forReading(settings)
      defer { keychain.close() }
      return try ListKeySlots().perform(OpenedStore(keychain: keychain, settings: settings))
    }
  }

  /// For commands that change something, and catch signals meanwhile: one that comes at a question leaves the store as
  /// it is.
  ///
  /// - Parameter needsAll: whether what is locked is asked for, too.
  func perform<Performed: KeyOperation>(
    _ operation: Performed, needsAll: Bool = false
  ) async throws -> Performed.Reply {
    let keychain = try await openHere(needsAll: needsAll)
    defer { keychain?.close() }
    guard let keychain else {
      // It is not to be done twice.
      return try await DaemonClient.orStore(isRepeatable: false) {
        try await daemon.performIfThere(operation, within: Self.timeout)
      } store: {
        throw CommandFailure(.temporary, "the daemon has ended before it was asked: try again")
      }
    }
    return try operation.perform(OpenedStore(keychain: keychain, settings: settings))
  }

  /// The store, where no daemon has it; nil where one does. What opens it is asked for on a thread of the system's:
  /// for commands that catch signals meanwhile.
  ///
  /// - Parameter needsAll: whether what is locked is asked for, too.
  private func openHere(needsAll: Bool) async throws -> Keychain? {
    let keychain: Keychain? = try await DaemonClient.orStore(isRepeatable: true) {
      try await isDaemonThere() ? Optional(Keychain?.none) : nil
    } store: {
      try await InterruptibleWork.result { try open(until: $0, needsAll: needsAll) }
    }
    guard !Task.isCancelled else {
      keychain?.close()
      throw CancellationError()
    }
    return keychain
  }

  /// It changes nothing, so it leaves nothing in doubt.
  private func isDaemonThere() async throws -> Bool {
    do {
      return try await daemon.isThere(within: Self.timeout)
    } catch is DaemonClient.Ended {
      return false
    } catch is DaemonClient.LeftOpen {
      throw CancellationError()
    }
  }

  private func open(until stop: StopFlag, needsAll: Bool) throws -> Keychain {
    let keychain = try OpenStore.forWriting(settings) { try StoreSecret.ask($0, until: stop) }
    do {
      if needsAll {
        try unlockIfAsked(keychain) { try StoreSecret.ask($0, until: stop) }
      }
      return keychain
    } catch {
      keychain.close()
      throw error
    }
  }

  /// A further passphrase or a recovery code is to reach everything: that takes one that does.
  private func unlockIfAsked(_ keychain: Keychain, ask: StoreWays.Ask) throws {
    guard !keychain.isUnlocked,
      let answer = try ask("The store is open, but parts of it are locked.\n")
    else { return }
    for way in try StoreSecret.ways(answer) {
      do { return try keychain.unlock(with: way) } catch { continue }
    }
    throw CommandFailure(.notPermitted, "this unlocks nothing: it is mistyped")
  }
}
