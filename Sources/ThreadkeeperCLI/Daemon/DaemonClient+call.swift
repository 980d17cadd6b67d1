// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon
import VarlinkSocket

/// The local API.
extension DaemonClient {
  /// Calls a method of the running daemon.
  ///
  /// - Parameter limit: the most time for all of it.
  /// - Returns: nil when no daemon listens.
  /// - Throws: `CommandFailure`, among them what the daemon answers; `Ended`; `LeftOpen`, or `CancellationError` when
  ///   nothing was asked yet.
  func call<Parameters: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<Parameters, Reply>, _ parameters: Parameters, within limit: Duration
  ) async throws -> Reply? {
    let deadline = ContinuousClock.now + limit
    do {
      let client = try await VarlinkClient.connect(
        to: LocalAPISocket.path(settings), within: limit, actingForOwner: true)
      try Task.checkCancellation()
      return try await client?.call(method, parameters, within: deadline - .now)
    } catch let error as SocketError {
      throw Self.failure(error)
    } catch let error as VarlinkError {
      throw error.commandFailure
    }
  }
}
