// SPDX-License-Identifier: Apache-2.0

import Synchronization
import SystemThreads
import TestKit
import Testing

@testable import BorderRouterAgent

@Suite("Looking up a router's name", .timeLimit(.minutes(10)))
struct NameLookupTests {
  /// A resolver that answers when it is let go.
  private final class SlowResolver: Sendable {
    let mayAnswer = WakeSignal()
    let calls = Mutex(0)

    func answer() -> NameLookup.Result {
      calls.withLock { $0 += 1 }
      WakeSignal.wait(for: [mayAnswer], within: .seconds(600))
      return .success([HTTPEndpoint(family: 2, address: [1])])
    }
  }

  private let resolver = SlowResolver()

  private func lookup(keeps: Duration = .seconds(3_600)) throws -> NameLookup {
    let address = try #require(HTTPAddress("http://attic.example:8081"))
    return NameLookup(address, keeps: keeps) { [resolver] in resolver.answer() }
  }

  private func failure(
    of lookup: NameLookup, within limit: Duration, _ signal: WakeSignal? = nil
  ) -> HTTPFailure? {
    do throws(HTTPFailure) {
      _ = try lookup.endpoints(until: .now + limit, signal)
      return nil
    } catch {
      return error
    }
  }

  @Test("A resolver that takes too long is unreachable; what it finds later is used by the next")
  func slow() throws {
    let lookup = try lookup()
    for _ in 0..<3 {
      #expect(
        failure(of: lookup, within: .milliseconds(50))
          == .unreachable("looking up attic.example takes too long"))
    }
    // One thread, however often it was asked.
    resolver.mayAnswer.raise()
    #expect(failure(of: lookup, within: .seconds(600)) == nil)
    #expect(resolver.calls.withLock { $0 } == 1)
    // Kept: further requests of the same look do not wait for the resolver.
    for _ in 0..<3 { #expect(failure(of: lookup, within: .zero) == nil) }
    #expect(resolver.calls.withLock { $0 } == 1)
  }

  @Test("Where the resolver has become too slow, what it found before is used")
  func becomesSlow() throws {
    let lookup = try lookup(keeps: .zero)
    resolver.mayAnswer.raise()
    #expect(failure(of: lookup, within: .seconds(600)) == nil)
    resolver.mayAnswer.clear()
    for _ in 0..<3 { #expect(failure(of: lookup, within: .milliseconds(50)) == nil) }
    resolver.mayAnswer.raise()
  }

  @Test("A stop ends the wait for a resolver")
  func stop() async throws {
    let lookup = try lookup()
    let signal = WakeSignal()
    async let result = SystemThread.result {
      failure(of: lookup, within: .seconds(600), signal)
    }
    try await eventually("the look-up") { resolver.calls.withLock { $0 } == 1 }
    signal.raise()
    #expect(try await result == .stopped)
    resolver.mayAnswer.raise()
  }

  @Test("A name that there is not is unreachable, with the resolver's reason")
  func unknown() throws {
    // RFC 6761, section 6.4: never found, also where there is a network.
    let address = try #require(HTTPAddress("http://none.invalid"))
    guard case .unreachable(let why) = failure(of: NameLookup(address), within: .seconds(600))
    else {
      Issue.record("there is no such name")
      return
    }
    #expect(!why.isEmpty && !why.contains("takes too long"))
  }
}
