import Foundation
import Synchronization
import TestKit
import Testing

@testable import ThreadNetwork

@Suite("Completion handlers", .timeLimit(.minutes(30))) struct CompletionTests {
  private let place: OwnPlace

  init() throws { place = try OwnPlace() }

  @Test("Each form gives what its other form gives, once, and on another thread") func forms() async throws {
    let client = place.client { _ in true }
    let dataset = try SampleNetwork.home.bytes()
    let network = SampleNetwork.home.id

    let stored = Handler<Never>()
    client.storeCredentials(forBorderAgent: Agents.kitchen, activeOperationalDataSet: dataset) { stored(nil, $0) }
    try await check(stored) { $0.error == nil }
    let expected = try await client.credentials(forBorderAgentID: Agents.kitchen)

    let all = Handler<Set<THCredentials>>()
    client.retrieveAllCredentials { all($0, $1) }
    try await check(all) { $0.value == [expected] && $0.error == nil }
    let active = Handler<Set<THCredentials>>()
    client.retrieveAllActiveCredentials { active($0, $1) }
    try await check(active) { $0.value == [] && $0.error == nil }
    let nearby = Handler<Set<THCredentials>>()
    client.retrieveActiveCredentialsForNearbyNetworks { nearby($0, $1) }
    try await check(nearby) { $0.value == [] && $0.error == nil }
    let one = Handler<THCredentials>()
    client.retrieveCredentials(forBorderAgent: Agents.kitchen) { one($0, $1) }
    try await check(one) { $0.value == expected && $0.error == nil }
    let preferred = Handler<THCredentials>()
    client.retrievePreferredCredentials { preferred($0, $1) }
    try await check(preferred) { $0.value?.activeOperationalDataSet == dataset && $0.error == nil }
    let ofNetwork = Handler<THCredentials>()
    client.retrieveCredentials(forExtendedPANID: network) { ofNetwork($0, $1) }
    try await check(ofNetwork) { $0.value?.extendedPANID == network && $0.error == nil }
    let isPreferred = Handler<Bool>()
    client.checkPreferredNetwork(forActiveOperationalDataset: dataset) { isPreferred($0, nil) }
    try await check(isPreferred) { $0.value == true }
    let isAvailable = Handler<Bool>()
    client.isPreferredNetworkAvailable { isAvailable($0, nil) }
    try await check(isAvailable) { $0.value == true }
    let shared = Handler<Never>()
    client.enableCredentialSharingMode(forExtendedPANID: network) { shared(nil, $0) }
    try await check(shared) { ($0.error as? THError)?.reason == .unsupported }
    let deleted = Handler<Never>()
    client.deleteCredentials(forBorderAgent: Agents.kitchen) { deleted(nil, $0) }
    try await check(deleted) { $0.error == nil }
    #expect(try await client.allCredentials().isEmpty)
  }

  @Test("Errors come once, too, also those that are found before anybody is asked") func errors() async throws {
    let client = place.client { _ in false }
    let short = Handler<THCredentials>()
    client.retrieveCredentials(forBorderAgent: Data()) { short($0, $1) }
    try await check(short) { $0.value == nil && ($0.error as NSError?)?.code == THError.Code.invalidArgument.rawValue }
    let missing = Handler<Never>()
    client.deleteCredentials(forBorderAgent: Agents.kitchen) { missing(nil, $0) }
    try await check(missing) { ($0.error as NSError?)?.code == THError.Code.notFound.rawValue }
    let wrong = Handler<Bool>()
    client.checkPreferredNetwork(forActiveOperationalDataset: Data([1])) { wrong($0, nil) }
    try await check(wrong) { $0.value == false }
  }

  private func check<Value>(
    _ handler: Handler<Value>, sourceLocation: SourceLocation = #_sourceLocation,
    _ isExpected: (Handler<Value>.Call) -> Bool
  ) async throws {
    let (calls, call) = await handler.outcome()
    #expect(calls == 1, sourceLocation: sourceLocation)
    let first = try #require(call, sourceLocation: sourceLocation)
    #expect(!first.isOnCallersThread, sourceLocation: sourceLocation)
    #expect(isExpected(first), "\(first)", sourceLocation: sourceLocation)
  }

  @Test("A client lives until its handler has returned, and no longer") func lifetime() async throws {
    weak var kept: THClient?
    let isLetGo = DispatchSemaphore(value: 0)
    let sawIt = Mutex(false)
    final class Reference: @unchecked Sendable { weak var client: THClient? }
    let reference = Reference()
    do {
      let client = place.client()
      kept = client
      reference.client = client
      client.retrieveAllCredentials { _, _ in
        isLetGo.wait()
        sawIt.withLock { $0 = reference.client != nil }
      }
    }
    #expect(kept != nil)
    isLetGo.signal()
    try await eventually("the client is gone") { kept == nil }
    #expect(sawIt.withLock { $0 })
  }

  @Test("A handler may block, as many as there are, and the others are called all the same") func blocking()
    async throws
  {
    let client = place.client()
    let gate = DispatchSemaphore(value: 0)
    let inside = Mutex(0)
    for _ in 0..<4 {
      client.isPreferredNetworkAvailable { _ in
        inside.withLock { $0 += 1 }
        gate.wait()
      }
    }
    try await eventually("all are inside") { inside.withLock { $0 } == 4 }
    #expect(try await client.allCredentials().isEmpty)
    for _ in 0..<4 { gate.signal() }
  }

  @Test("A subclass that overrides a form with a handler has overridden the other one") func subclass() async throws {
    final class Fake: THClient, @unchecked Sendable {
      override func retrieveAllCredentials(
        _ completion: @escaping @Sendable (Set<THCredentials>?, (any Error)?) -> Void
      ) { completion(nil, NSError(domain: "fake", code: 7)) }
    }
    let fake = Fake(configuration: place.configuration())
    do {
      _ = try await fake.allCredentials()
      Issue.record("it is not overridden")
    } catch {
      #expect((error as NSError).domain == "fake")
      #expect((error as NSError).code == 7)
    }
  }
}

/// Counts how often a completion handler is called, and on which threads, and keeps what it got.
private final class Handler<Value: Sendable>: Sendable {
  struct Call: Sendable {
    var value: Value?
    var error: (any Error)?
    var isOnCallersThread: Bool
  }

  private let caller = UInt(pthread_self())
  private let calls = Mutex<[Call]>([])
  private let called = DispatchSemaphore(value: 0)

  func callAsFunction(_ value: Value?, _ error: (any Error)?) {
    calls.withLock { $0.append(Call(value: value, error: error, isOnCallersThread: UInt(pthread_self()) == caller)) }
    called.signal()
  }

  /// Waits for the first call, and a moment for another one, which must not come.
  func outcome() async -> (calls: Int, call: Call?) {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      Thread {
        _ = self.called.wait(timeout: .now() + 240)
        done.resume()
      }.start()
    }
    try? await Task.sleep(for: .milliseconds(20))
    return calls.withLock { ($0.count, $0.first) }
  }
}
