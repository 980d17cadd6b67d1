// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import KeychainCore
import Settings

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Has something done with the store: by the keeper that holds it, or without one in the store itself.
struct StoreDesk: Sendable {
  /// Seconds. A passphrase takes the keeper one, on a slow machine ten.
  private static let patience = 120

  let settings: Settings

  /// - Returns: nil when no keeper listens.
  func askKeeper(_ request: StoreRequest) async throws -> StoreReport? {
    let octets: [UInt8]?
    do {
      octets = try await DaemonCaller.ask(
        request.octets, at: RunningKeeper.socketPath(settings), within: Self.patience)
    } catch let error as DaemonSocketError {
      throw CommandFailure(
        error.reason == .stranger ? .notPermitted : .temporary,
        "the running keeper cannot be asked: \(error.message)")
    }
    guard let octets else { return nil }
    guard let answer = try? JSONDecoder().decode(StoreAnswer.self, from: Data(octets)) else {
      throw DaemonAnswer.unreadable
    }
    return try answer.result()
  }

  func perform(_ request: StoreRequest) async throws -> StoreReport {
    if let report = try await askKeeper(request) { return report }
    let keychain =
      try request.command == .listKeys
      ? OpenStore.forReading(settings) : OpenStore.forWriting(settings)
    defer { keychain.close() }
    if request.command == .addKey { try unlockIfAsked(keychain) }
    return try StoreWork(keychain: keychain, settings: settings).answer(request)
  }

  /// A further passphrase or a recovery code is to reach everything: that takes one that does.
  func unlockIfAsked(_ keychain: Keychain) throws {
    guard !keychain.isUnlocked,
      let answer = StoreSecret.askNow("The store is open, but parts of it are locked.\n")
    else { return }
    for way in try StoreSecret.ways(answer) {
      do { return try keychain.unlock(with: way) } catch { continue }
    }
    throw CommandFailure(.notPermitted, "this unlocks nothing: it is mistyped")
  }
}
