// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import Settings

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The keeper that runs on a store, for commands that have something for it.
struct RunningKeeper: Sendable {
  /// Longer than the keeper may take to ask its broker.
  private static let patience = 60

  let settings: Settings

  static func socketPath(_ settings: Settings) -> String { settings.store.path + "/daemon.sock" }

  /// - Returns: nil when none listens.
  /// - Throws: `CommandFailure`, among them what the keeper answers; `CancellationError`.
  func ask(_ request: DaemonRequest) async throws -> DaemonAnswer.Result? {
    let octets: [UInt8]?
    do {
      octets = try await DaemonCaller.ask(
        request.octets, at: Self.socketPath(settings), within: Self.patience)
    } catch let error as DaemonSocketError {
      throw CommandFailure(
        error.reason == .stranger ? .notPermitted : .temporary,
        "the running keeper cannot be asked: \(error.message)")
    }
    guard let octets else { return nil }
    guard let answer = try? JSONDecoder().decode(DaemonAnswer.self, from: Data(octets)) else {
      throw DaemonAnswer.unreadable
    }
    return try answer.result()
  }
}
