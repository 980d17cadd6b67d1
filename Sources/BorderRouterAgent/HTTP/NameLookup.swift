// SPDX-License-Identifier: Apache-2.0

import Synchronization
import SystemThreads

/// Looks up one host with a time limit, which getaddrinfo(3) does not have: on a thread of its own, of which there is
/// never more than one. What it finds is used for a minute, and for longer where the resolver has become too slow: a look
/// at a router makes several requests.
final class NameLookup: Sendable {
  typealias Result = Swift.Result<[HTTPEndpoint], HTTPFailure>

  private struct State {
    var isRunning = false
    var result: Result?
    var known: (endpoints: [HTTPEndpoint], since: ContinuousClock.Instant)?
  }

  private let address: HTTPAddress
  private let resolve: @Sendable () -> Result
  private let keeps: Duration
  private let state = Mutex(State())
  /// Raised while there is a result.
  private let found = WakeSignal()

  /// - Parameters:
  ///   - keeps: how long what was found is used without another look-up.
  ///   - resolve: takes as long as it likes.
  init(
    _ address: HTTPAddress, keeps: Duration = .seconds(60), resolve: (@Sendable () -> Result)? = nil
  ) {
    self.address = address
    self.keeps = keeps
    self.resolve =
      resolve ?? { Result { () throws(HTTPFailure) in try HTTPEndpoint.resolve(address) } }
  }

  /// - Parameter signal: ends the wait when the agent stops.
  /// - Throws: `HTTPFailure.unreachable`, also when the name was not found in time; `stopped`.
  func endpoints(
    until deadline: ContinuousClock.Instant, _ signal: WakeSignal?
  ) throws(HTTPFailure) -> [HTTPEndpoint] {
    // An address needs no look-up.
    if !address.literals.isEmpty { return try resolve().get() }
    let known = state.withLock { $0.known }
    if let known, known.since.duration(to: .now) < keeps { return known.endpoints }
    begin()
    while true {
      if let result = take() { return try result.get() }
      let left = ContinuousClock.now.duration(to: deadline)
      if left <= .zero {
        if let known { return known.endpoints }
        throw .unreachable("looking up \(address.host) takes too long")
      }
      WakeSignal.wait(for: [found] + (signal.map { [$0] } ?? []), within: left)
      if let signal, signal.isRaised { throw .stopped }
    }
  }

  private func begin() {
    let isNeeded = state.withLock { state in
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard isNeeded else { return }
    SystemThread.run { [self] in
      let result = resolve()
      // Together, so that no signal is raised for a result that was taken.
      state.withLock { state in
        state.result = result
        found.raise()
      }
    }
  }

  private func take() -> Result? {
    state.withLock { state in
      guard let result = state.result else { return nil }
      found.clear()
      let endpoints = try? result.get()
      state = State(known: endpoints.map { ($0, .now) })
      return result
    }
  }
}
