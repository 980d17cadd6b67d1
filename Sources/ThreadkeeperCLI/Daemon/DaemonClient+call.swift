// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon
import VarlinkSocket

/// The local API.
///
/// Every call throws `CommandFailure`, among them what the daemon answers; `Ended`; `LeftOpen`, or `CancellationError`
/// when nothing was asked yet.
extension DaemonClient {
  /// Calls a method of the running daemon.
  ///
  /// - Parameters:
  ///   - limit: the most time for all of it.
  ///   - refusal: what is thrown for an error that the daemon answers with.
  /// - Returns: nil when no daemon listens.
  func call<Parameters: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<Parameters, Reply>, _ parameters: Parameters, within limit: Duration,
    refusal: (VarlinkError) -> any Error = { $0.commandFailure }
  ) async throws -> Reply? {
    let deadline = ContinuousClock.now + limit
    return try await with(within: limit, refusal: refusal) {
      try await $0.call(method, parameters, within: deadline - .now)
    }
  }

  /// Calls a stream of the running daemon, for as long as it lasts.
  ///
  /// - Parameters:
  ///   - limit: the most time for the connection, and then until the first reply.
  ///   - preparation: what is called before on the same connection.
  ///   - each: gets every reply. What it throws ends the stream.
  /// - Returns: the last reply; nil when no daemon listens.
  func follow<Parameters: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkStream<Parameters, Reply>, _ parameters: Parameters,
    firstWithin limit: Duration = .seconds(60),
    after preparation: (VarlinkClient) async throws -> Void = { _ in },
    each: (Reply) async throws -> Void
  ) async throws -> Reply? {
    try await with(within: limit) {
      try await preparation($0)
      var last: Reply?
      for try await reply in try $0.replies(
        to: method, parameters, firstWithin: limit)
      {
        try await each(reply)
        last = reply
      }
      // A stream whose task is cancelled between two replies just ends.
      try Task.checkCancellation()
      guard let last else { throw SocketError.closed }
      return last
    }
  }

  /// Whether a daemon answers.
  func isThere(within limit: Duration) async throws -> Bool {
    let question = VarlinkMethod<VarlinkNothing, VarlinkNothing>(
      VarlinkInterface.service.name, "GetInfo", for: .admitted)
    return try await call(question, VarlinkNothing(), within: limit) != nil
  }

  private func with<Reply>(
    within limit: Duration, refusal: (VarlinkError) -> any Error = { $0.commandFailure },
    _ body: (VarlinkClient) async throws -> Reply
  ) async throws -> Reply? {
    do {
      let client = try await VarlinkClient.connect(
        to: LocalAPISocket.path(settings), within: limit, actingForOwner: true)
      guard let client else { return nil }
      try Task.checkCancellation()
      return try await body(client)
    } catch let error as SocketError where error.reason == .malformed {
      // What was asked for may be done: this is no reason to ask again.
      throw DaemonClient.unreadable
    } catch let error as SocketError {
      throw Self.failure(error)
    } catch let error as VarlinkError {
      throw refusal(error)
    }
  }
}
