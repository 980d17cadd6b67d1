// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import ThreadkeeperDaemon
import VarlinkSocket

/// Has something done with the store: by the daemon that holds it, or without one in the store itself.
struct StoreClient: Sendable {
  /// A passphrase takes the daemon a second, on a slow machine ten.
  private static let timeout = Duration.seconds(120)

  let settings: Settings

  /// - Returns: nil when no daemon listens.
  /// - Throws: `DaemonClient.Ended`, among others.
  private func ask<Request: Encodable & Sendable>(
    _ method: VarlinkMethod<Request, StoreReport>, _ request: Request
  ) async throws -> StoreReport? {
    try await DaemonClient(settings: settings).call(method, request, within: Self.timeout)
  }

  // MARK: Key slots

  func list() async throws -> StoreReport {
    try await DaemonClient.orStore(isRepeatable: true) {
      try await ask(KeysMethods.list, VarlinkNothing())
    } store: {
      let keychain = try OpenStore.forReading(settings)
      defer { keychain.close() }
      return try StoreActions(keychain: keychain, settings: settings).list()
    }
  }

  func add(_ request: KeysMethods.Addition) async throws -> StoreReport {
    try await performUnlessStopped(KeysMethods.add, request, needsAll: true) {
      try $0.add(request)
    }
  }

  func remove(_ request: KeysMethods.Removal) async throws -> StoreReport {
    try await performUnlessStopped(KeysMethods.remove, request, needsAll: false) {
      try $0.remove(request)
    }
  }

  /// For commands that change something, and catch signals meanwhile: one that comes at a question leaves the store as
  /// it is.
  private func performUnlessStopped<Request: Encodable & Sendable>(
    _ method: VarlinkMethod<Request, StoreReport>, _ request: Request, needsAll: Bool,
    here: (StoreActions) throws -> StoreReport
  ) async throws -> StoreReport {
    let keychain = try await openHere { _ in needsAll }
    defer { keychain?.close() }
    guard let keychain else {
      return try await once { try await ask(method, request) }
    }
    return try here(StoreActions(keychain: keychain, settings: settings))
  }

  func rotate(_ request: KeysMethods.Rotation) async throws -> StoreReport {
    try await performUnlessStopped(KeysMethods.rotate, request, needsAll: false) {
      try $0.rotate(request)
    }
  }

  /// Has a daemon do what is not to be done twice, as to add a key; one was there a moment ago.
  private func once(_ ask: () async throws -> StoreReport?) async throws -> StoreReport {
    try await DaemonClient.orStore(isRepeatable: false, daemon: ask) {
      throw CommandFailure(.temporary, "the daemon has ended before it was asked: try again")
    }
  }

  // MARK: The store

  /// The store, where no daemon has it; nil where one does. What opens it is asked for on a thread of the system's:
  /// for commands that catch signals meanwhile.
  ///
  /// - Parameter needsAll: whether what is locked is asked for, too.
  func openHere(
    _ needsAll: @escaping @Sendable (Keychain) throws -> Bool
  ) async throws -> Keychain? {
    let keychain: Keychain? = try await DaemonClient.orStore(isRepeatable: true) {
      try await isDaemonThere() ? Optional(Keychain?.none) : nil
    } store: {
      try await InterruptibleWork.result { try open(until: $0, needsAll) }
    }
    guard !Task.isCancelled else {
      keychain?.close()
      throw CancellationError()
    }
    return keychain
  }

  /// It changes nothing, so it leaves nothing in doubt.
  func isDaemonThere() async throws -> Bool {
    do {
      return try await DaemonClient(settings: settings).isThere(within: Self.timeout)
    } catch is DaemonClient.Ended {
      return false
    } catch is DaemonClient.LeftOpen {
      throw CancellationError()
    }
  }

  private func open(until stop: StopFlag, _ needsAll: (Keychain) throws -> Bool) throws -> Keychain
  {
    let keychain = try OpenStore.forWriting(settings) { try StoreSecret.ask($0, until: stop) }
    do {
      if try needsAll(keychain) {
        try unlockIfAsked(keychain) { try StoreSecret.ask($0, until: stop) }
      }
      return keychain
    } catch {
      keychain.close()
      throw error
    }
  }

  /// A further passphrase or a recovery code is to reach everything: that takes one that does.
  func unlockIfAsked(_ keychain: Keychain, ask: StoreWays.Ask) throws {
    guard !keychain.isUnlocked,
      let answer = try ask("The store is open, but parts of it are locked.\n")
    else { return }
    for way in try StoreSecret.ways(answer) {
      do { return try keychain.unlock(with: way) } catch { continue }
    }
    throw CommandFailure(.notPermitted, "this unlocks nothing: it is mistyped")
  }
}
