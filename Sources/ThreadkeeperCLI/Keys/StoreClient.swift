// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import ThreadkeeperDaemon

/// Has something done with the store: by the daemon that holds it, or without one in the store itself.
struct StoreClient: Sendable {
  /// Seconds. A passphrase takes the daemon one, on a slow machine ten.
  private static let patience = 120

  let settings: Settings

  /// - Returns: nil when no daemon listens.
  func askDaemon(_ request: StoreRequest) async throws -> StoreReport? {
    do {
      return try await ask(request)
    } catch let ended as DaemonClient.Ended {
      throw ended.failure
    }
  }

  /// - Returns: nil when no daemon listens.
  /// - Throws: `DaemonClient.Ended`, among others.
  func ask(_ request: StoreRequest) async throws -> StoreReport? {
    try await DaemonClient(settings: settings).ask(request, within: Self.patience)
  }

  /// For what only a daemon can do. One that is just starting is waited for.
  ///
  /// - Parameter words: of the failure with status 69 when none runs.
  func askRunningDaemon(_ request: StoreRequest, orSay words: String) async throws -> StoreReport {
    try await DaemonClient.orStore(isRepeatable: true) {
      try await ask(request)
    } store: {
      guard StoreLock.holder(of: OpenStore.location(settings)) == nil else {
        throw CommandFailure(.temporary, "another process has the store, and no daemon answers")
      }
      throw CommandFailure(.unavailable, words)
    }
  }

  /// The ways into the store.
  func list() async throws -> StoreReport {
    let request = StoreRequest(command: .listKeys)
    return try await DaemonClient.orStore(isRepeatable: true) {
      try await ask(request)
    } store: {
      let keychain = try OpenStore.forReading(settings)
      defer { keychain.close() }
      return try StoreActions(keychain: keychain, settings: settings).answer(request)
    }
  }

  /// For commands that change something, and catch signals meanwhile: one that comes at a question leaves the store as it is.
  func performUnlessStopped(_ request: StoreRequest) async throws -> StoreReport {
    let keychain = try await openHere(
      unlessAnswered: StoreRequest(command: .listKeys), within: Self.patience
    ) { _ in request.command == .addKey }
    defer { keychain?.close() }
    guard let keychain else { return try await askOnce(request) }
    return try StoreActions(keychain: keychain, settings: settings).answer(request)
  }

  /// Has a daemon do what is not to be done twice, as to add a key; one was there a moment ago.
  func askOnce(_ request: StoreRequest) async throws -> StoreReport {
    try await DaemonClient.orStore(isRepeatable: false) {
      try await ask(request)
    } store: {
      throw CommandFailure(.temporary, "the daemon has ended before it was asked: try again")
    }
  }

  /// The store, where no daemon has it; nil where one does. What opens it is asked for on a thread of the system's:
  /// for commands that catch signals meanwhile.
  ///
  /// - Parameters:
  ///   - question: that shows whether a daemon is there. It changes nothing, so it leaves nothing in doubt.
  ///   - needsAll: whether what is locked is asked for, too.
  func openHere(
    unlessAnswered question: StoreRequest, within seconds: Int,
    _ needsAll: @escaping @Sendable (Keychain) throws -> Bool
  ) async throws -> Keychain? {
    let keychain: Keychain? = try await DaemonClient.orStore(isRepeatable: true) {
      try await isAnswered(question, within: seconds) ? Optional(Keychain?.none) : nil
    } store: {
      try await SystemThread.run { try open(until: $0, needsAll) }
    }
    guard !Task.isCancelled else {
      keychain?.close()
      throw CancellationError()
    }
    return keychain
  }

  private func isAnswered(_ question: StoreRequest, within seconds: Int) async throws -> Bool {
    do {
      return try await DaemonClient(settings: settings).ask(question, within: seconds) != nil
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
      do { try keychain.unlock(with: way) } catch { continue }
      return try StoreActions(keychain: keychain, settings: settings).noteUnlock()
    }
    throw CommandFailure(.notPermitted, "this unlocks nothing: it is mistyped")
  }
}
