// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings

/// Has something done with the store: by the keeper that holds it, or without one in the store itself.
struct StoreDesk: Sendable {
  /// Seconds. A passphrase takes the keeper one, on a slow machine ten.
  private static let patience = 120

  let settings: Settings

  /// - Returns: nil when no keeper listens.
  func askKeeper(_ request: StoreRequest) async throws -> StoreReport? {
    do {
      return try await ask(request)
    } catch let ended as RunningKeeper.Ended {
      throw ended.failure
    }
  }

  /// - Returns: nil when no keeper listens.
  /// - Throws: `RunningKeeper.Ended`, among others.
  func ask(_ request: StoreRequest) async throws -> StoreReport? {
    try await RunningKeeper(settings: settings).ask(request, within: Self.patience)
  }

  /// For what only a keeper can do. One that is just starting is waited for.
  ///
  /// - Parameter words: of the failure with status 69 when none runs.
  func askRunningKeeper(_ request: StoreRequest, orSay words: String) async throws -> StoreReport {
    try await RunningKeeper.orStore(isRepeatable: true) {
      try await ask(request)
    } store: {
      guard StoreLock.holder(of: OpenStore.location(settings)) == nil else {
        throw CommandFailure(.temporary, "another process has the store, and no keeper answers")
      }
      throw CommandFailure(.unavailable, words)
    }
  }

  func perform(_ request: StoreRequest) async throws -> StoreReport {
    // To add a key twice would be two keys.
    try await RunningKeeper.orStore(isRepeatable: request.command == .listKeys) {
      try await ask(request)
    } store: {
      let keychain =
        try request.command == .listKeys
        ? OpenStore.forReading(settings) : OpenStore.forWriting(settings)
      defer { keychain.close() }
      if request.command == .addKey { try unlockIfAsked(keychain) }
      return try StoreWork(keychain: keychain, settings: settings).answer(request)
    }
  }

  /// A further passphrase or a recovery code is to reach everything: that takes one that does.
  func unlockIfAsked(_ keychain: Keychain) throws {
    guard !keychain.isUnlocked,
      let answer = try StoreSecret.askNow("The store is open, but parts of it are locked.\n")
    else { return }
    for way in try StoreSecret.ways(answer) {
      do { try keychain.unlock(with: way) } catch { continue }
      return try StoreWork(keychain: keychain, settings: settings).noteUnlock()
    }
    throw CommandFailure(.notPermitted, "this unlocks nothing: it is mistyped")
  }
}
