import Foundation
import Synchronization
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import ThreadNetwork

@Suite("The daemon's end of the socket, when it is not as it should be", .timeLimit(.minutes(30))) struct SocketTests {
  @Test(
    "What is no answer is said to be none, and nothing is true because of it",
    arguments: [
      "", "{", "[]", "null", "{}", "{\"v\":1}", "{\"parameters\":{}}", "{\"parameters\":7}", "{\"error\":7}",
      "{\"error\":\"io.threadkeeper.Failed\"}", "{\"error\":\"of.another.Service\"}",
      "{\"parameters\":{\"available\":\"yes\",\"credentials\":{}}}",
      "{\"parameters\":{\"credentials\":[{}],\"result\":\"maybe\"}}",
      "{\"parameters\":{\"credentials\":[{\"ext_pan_id\":\"1111111122222222\","
        + "\"network_name\":\"a\",\"active\":true,\"dataset\":\"00\"}]}}",
      // One that keeps its secret to itself.
      "{\"parameters\":{\"credentials\":[{\"ext_pan_id\":\"1111111122222222\","
        + "\"network_name\":\"a\",\"active\":true}]}}", "\u{0}\u{1}\u{2}", String(repeating: "[", count: 10_000),
    ]) func garbage(_ answer: String) async throws
  {
    let daemon = try FakeDaemon { _, _ in Array(answer.utf8) }
    let client = daemon.client
    let dataset = try SampleNetwork.home.bytes()
    let calls: [() async throws -> Void] = [
      { _ = try await client.allCredentials() }, { _ = try await client.credentials(forBorderAgentID: Agents.kitchen) },
      { _ = try await client.preferredMatch(forActiveOperationalDataset: dataset) },
    ]
    for call in calls {
      let error = await failure(call)
      #expect(error?.reason == .badAnswer || error?.reason == .unsupported, "\(error as Any)")
    }
    #expect(await !client.isPreferredAvailable())
    #expect(await !client.isPreferred(forActiveOperationalDataset: dataset))
  }

  @Test("A call has its method and home, and no more than it needs") func request() async throws {
    let daemon = try FakeDaemon { _, _ in ThreadAnswer(AnswerData(credentials: [])).json() }
    var configuration = daemon.configuration
    configuration.home = "cabin"
    let client = THClient(configuration: configuration)
    #expect(try await client.allCredentials() == [])
    try await client.store()
    let requests = daemon.requests
    #expect(requests.map(\.command) == [.listCredentials, .storeCredentials])
    #expect(requests.allSatisfy { $0.home == "cabin" })
    #expect(requests[0].dataset == nil && requests[0].agent == nil)
    #expect(requests[1].agent == BorderAgentID(high: 1, low: 0))
    #expect(requests[1].dataset == (try SampleNetwork.home.dataset(at: 1)))
  }

  @Test("A call that a person decides about has a transaction that no other call has") func transactions() async throws
  {
    let daemon = try FakeDaemon { _, _ in ThreadAnswer(AnswerFailure(.consentDenied, "a person has refused it")).json()
    }
    for _ in 1...2 { _ = await failure { try await daemon.client.preferredCredentials() } }
    let transactions = daemon.requests.compactMap(\.transaction)
    #expect(transactions.count == 2 && Set(transactions).count == 2)
  }

  @Test("Without a preferred network the error is 9, which apps read so, and too many calls are 17") func appCodes()
    async throws
  {
    let daemon = try FakeDaemon { request, _ in
      let isPreferred = request.command == .getPreferred
      let code: AnswerCode = isPreferred ? .notFound : .rateLimited
      return ThreadAnswer(AnswerFailure(code, "the words")).json()
    }
    let none = await failure { try await daemon.client.preferredCredentials() }
    #expect(none?.code == 9 && none?.reason == .noPreferredNetwork)
    #expect(none?.answerCode == "not_found")
    let flooded = await failure { try await daemon.client.allCredentials() }
    #expect(flooded?.code == 17 && flooded?.reason == .busy)
  }

  @Test("Every code of an answer is an error with a number of its own") func codes() async throws {
    let expected: [AnswerCode: THError.Code] = [
      .invalidPayload: .invalidArgument, .incompleteDataset: .invalidDataset, .badDataset: .invalidDataset,
      .notAuthorized: .notAuthorized, .notEnrolled: .notAuthorized, .consentRequired: .refused,
      .consentDenied: .refused, .consentExpired: .refused, .staleID: .notFound, .notFound: .notFound,
      .conflict: .conflict, .rateLimited: .busy, .tooManyRouters: .busy, .expired: .interrupted, .readOnly: .readOnly,
      .unsupported: .unsupported, .damagedCredentials: .damaged, .tooLarge: .busy, .ending: .interrupted,
      .store: .storeFailure,
    ]
    for code in AnswerCode.allCases {
      let daemon = try FakeDaemon { _, _ in ThreadAnswer(AnswerFailure(code, "the words", help: "the help")).json() }
      // A daemon that ends is asked again, for this long.
      let link = DaemonLink(daemon.configuration, timeout: code == .ending ? .zero : .seconds(600))
      let error = await failure { try await link.credentials(.listCredentials) }
      #expect(error?.reason == expected[code], "\(code)")
      #expect(error?.answerCode == code.rawValue)
      #expect(error?.localizedDescription.contains("the words; the help") == true)
    }
    let unknown = try FakeDaemon { _, _ in
      var failure = AnswerFailure(.store, "the words")
      failure.code = "of_a_later_version"
      return ThreadAnswer(failure).json()
    }
    let error = await failure { try await unknown.client.allCredentials() }
    #expect(error?.reason == .badAnswer)
    #expect(error?.answerCode == "of_a_later_version")
  }

  @Test("Nobody listens on the socket that was named: that is said, and no store is opened instead") func nobody()
    async throws
  {
    let place = try OwnPlace()
    var configuration = place.configuration()
    configuration.socket = try place.makeSocketDirectory()
    let link = DaemonLink(configuration, timeout: .zero)
    let error = await failure { try await link.credentials(.listCredentials) }
    #expect(error?.reason == .unavailable)
    #expect(error?.localizedDescription.contains(try place.makeSocketDirectory()) == true)
    #expect(!FileManager.default.fileExists(atPath: place.storePath))
  }

  @Test("A daemon whose socket is where others can write is sent no request") func untrustedDirectory() async throws {
    let daemon = try FakeDaemon { _, _ in [] }
    chmod((daemon.path as NSString).deletingLastPathComponent, 0o777)
    let error = await failure { try await daemon.client.allCredentials() }
    #expect(error?.reason == .untrusted)
    #expect(daemon.requests.isEmpty)
  }

  @Test("A daemon that ends in the middle is waited for, and asked again; a delete it has done is done") func ends()
    async throws
  {
    let broken = try BrokenDaemon(breaking: 1) { _ in ThreadAnswer(AnswerFailure(.notFound, "no such router")).json() }
    try await broken.client.deleteCredentials(forBorderAgent: Agents.kitchen)
    #expect(broken.calls == 2)
    let ending = try BrokenDaemon(breaking: 0) { number in
      number == 0
        ? ThreadAnswer(AnswerFailure(.ending, "it ends")).json() : ThreadAnswer(AnswerData(credentials: [])).json()
    }
    #expect(try await ending.client.allCredentials() == [])
    #expect(ending.calls == 2)
  }

  @Test("Where a person is asked, a call that broke off is not made again") func endsWhileAsking() async throws {
    let broken = try BrokenDaemon(breaking: 1) { _ in ThreadAnswer(AnswerData(credentials: [])).json() }
    let error = await failure { try await broken.client.preferredCredentials() }
    #expect(error?.reason == .interrupted)
    #expect(broken.calls == 1)
  }

  @Test("A call whose task is cancelled ends at once; one that is cancelled before asks nobody") func cancelled()
    async throws
  {
    let hasCome = Mutex(false)
    let daemon = try FakeDaemon { _, caller in
      hasCome.withLock { $0 = true }
      try? caller.wait(until: .now + .seconds(240))
      return []
    }
    let client = daemon.client
    let dataset = try SampleNetwork.home.bytes()
    let call = Task { try await client.preferredCredentials() }
    try await eventually("the call") { hasCome.withLock { $0 } }
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(daemon.requests.count == 1)

    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      await #expect(throws: CancellationError.self) { try await client.allCredentials() }
      return await client.isPreferred(forActiveOperationalDataset: dataset)
    }
    late.cancel()
    #expect(await !late.value)
    #expect(daemon.requests.count == 1)
  }
}
