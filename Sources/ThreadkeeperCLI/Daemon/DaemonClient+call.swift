// SPDX-License-Identifier: Apache-2.0

import LocalAPI
import Settings
import ThreadkeeperDaemon
import ThreadkeeperSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
    return try await with(method.access, within: limit, refusal: refusal) {
      try await $0.call(method, parameters, within: deadline - .now)
    }
  }

  /// Calls a stream of the running daemon, for as long as it lasts.
  ///
  /// - Parameters:
  ///   - limit: the most time for the connection, and then until the first reply.
  ///   - each: gets every reply. What it throws ends the stream.
  /// - Returns: the last reply; nil when no daemon listens.
  func follow<Parameters: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkStream<Parameters, Reply>, _ parameters: Parameters,
    firstWithin limit: Duration = .seconds(60),
    each: (Reply) async throws -> Void
  ) async throws -> Reply? {
    try await with(method.access, within: limit) {
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
    _ access: VarlinkAccess, within limit: Duration,
    refusal: (VarlinkError) -> any Error = { $0.commandFailure },
    _ body: (VarlinkClient) async throws -> Reply
  ) async throws -> Reply? {
    do {
      guard let client = try await connect(for: access, within: limit) else { return nil }
      try Task.checkCancellation()
      return try await body(client)
    } catch let error as SocketError where error.reason == .malformed {
      // What was asked for may be done: this is no reason to ask again.
      throw DaemonClient.unreadable
    } catch let error as SocketError {
      throw failure(error)
    } catch let error as VarlinkError {
      throw refusal(error)
    }
  }

  private func connect(
    for access: VarlinkAccess, within limit: Duration
  ) async throws -> VarlinkClient? {
    do {
      return try await VarlinkClient.connect(
        to: LocalAPISocket.path(settings), within: limit, actingForOwner: true)
    } catch let error as SocketError where error.reason == .forbidden && access <= .reader {
      guard let client = try? await connectAsReader(within: limit) else { throw error }
      return client
    }
  }

  /// The machine's daemon, for members of its group; nil where none listens, or its store is another one.
  private func connectAsReader(within limit: Duration) async throws -> VarlinkClient? {
    let places = SystemPlaces(environment: ProcessInfo.processInfo.environment)
    let client = try await VarlinkClient.connect(
      to: places.readersSocket, within: limit, admittingOthers: true)
    let status = try await client?.call(StatusMethods.get, VarlinkNothing(), within: limit).status
    return status?.store.path == settings.store.path ? client : nil
  }
}
