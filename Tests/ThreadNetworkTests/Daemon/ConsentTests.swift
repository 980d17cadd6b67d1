import Foundation
import KeychainCore
import Synchronization
import TestKit
import Testing

@testable import Home
@testable import HomeStore
@testable import ThreadNetwork

/// Also with a store that a daemon has left, and what people have decided there.
@Suite("Consent where no daemon runs", .timeLimit(.minutes(30))) struct ConsentTests {
  private let place: OwnPlace
  private let asked = Asked()

  private final class Asked: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .relaxed) }
    func note() { value.add(1, ordering: .relaxed) }
  }

  init() async throws {
    place = try OwnPlace()
    try await place.client().store()
  }

  /// A program, of which a person agrees to all.
  private var client: THClient {
    let asked = asked
    return place.client { _ in
      asked.note()
      return true
    }
  }

  /// As its daemon would.
  private func handle(_ inputs: (Home) -> [HomeInput]) throws {
    let now = WireTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    try place.withStore { keychain in
      try SealedRecords(keychain).inTransaction { records in
        var stored = try StoredHome("home", rules: HomeRules { .random(in: .min ... .max) }, in: records)
        for input in inputs(stored.home) { _ = stored.handle(input, actor: nil, at: now) }
        try stored.commit(to: records)
      }
    }
  }

  private func askForPreferred() throws {
    let requester = Requester(.systemUser(geteuid()), team: "own")
    try handle { _ in [.request(.getPreferred, RequestContext(requester, reply: .caller, actor: "test"))] }
  }

  private func decide(_ decision: (ConsentID) -> ConsentDecision.What) throws {
    try handle { home in home.questions.map { .decision(ConsentDecision(decision($0.id), by: .commandLine(user: 0))) } }
  }

  private var home: Home {
    get throws {
      try place.withStore { keychain in try #require(HomeSnapshot.read(SealedRecords(keychain)).homes["home"]) }
    }
  }

  @Test("Where \"always\" was approved nobody is asked, but in an older copy of the store") func grant() async throws {
    try askForPreferred()
    try decide { .approve($0, .always) }
    _ = try await client.preferredCredentials()
    #expect(asked.count == 0)
    let copy = place.directory.file("copy")
    try FileManager.default.copyItem(atPath: place.storePath, toPath: copy)
    let grant = try #require(try home.grants.first)
    try handle { _ in [.decision(ConsentDecision(.revoke(grant: grant.id), by: .commandLine(user: 0)))] }
    try FileManager.default.removeItem(atPath: place.storePath)
    try FileManager.default.moveItem(atPath: copy, toPath: place.storePath)
    #expect(try home.grants.count == 1)
    _ = try await client.preferredCredentials()
    #expect(asked.count == 1)
    let another = place.client(team: "another") { _ in false }
    #expect(await failure { try await another.preferredCredentials() }?.code == 15)
  }

  @Test("What a person has refused a moment ago is refused at once") func denied() async throws {
    try askForPreferred()
    try decide { .deny($0) }
    let refused = await failure { try await client.preferredCredentials() }
    #expect(refused?.reason == .refused && refused?.answerCode == "consent_denied")
    #expect(asked.count == 0)
  }

  @Test("A person who agrees has them told, and was asked about this network, once for each call") func agreed()
    async throws
  {
    let questions = Mutex<[String]>([])
    let client = place.client(team: "other") { question in
      questions.withLock { $0.append(question) }
      return true
    }
    let dataset = try SampleNetwork.home.bytes()
    let id = SampleNetwork.home.id
    #expect(try await client.preferredCredentials().activeOperationalDataSet == dataset)
    #expect(try await client.credentials(forExtendedPANID: id).activeOperationalDataSet == dataset)
    let asked = questions.withLock { $0 }
    #expect(asked.count == 2)
    for question in asked {
      #expect(question.contains(#""home" (1111111122222222)"#))
      #expect(!question.contains(SampleNetwork.home.networkKey))
    }
  }

  @Test("A person who refuses, and nobody to ask, are code 15, and tell nothing") func refused() async throws {
    for (answer, code) in [(false, "consent_denied"), (nil, "consent_required")] as [(Bool?, String)] {
      let client = place.client(team: "other") { _ in answer }
      let id = SampleNetwork.home.id
      for call: () async throws -> Void in [
        { _ = try await client.preferredCredentials() }, { _ = try await client.credentials(forExtendedPANID: id) },
      ] {
        let error = await failure(call)
        #expect(error?.code == 15)
        #expect(error?.domain == "THErrorDomain")
        #expect(error?.answerCode == code)
      }
    }
    let nobody = await failure { try await place.client().preferredCredentials() }
    #expect(nobody?.localizedDescription.contains("threadkeeper consent") == true)
  }

  @Test("What was agreed to is in the history and the audit; a refusal leaves nothing in the store") func history()
    async throws
  {
    let no = place.client(team: "other") { _ in false }
    #expect(await failure { try await no.preferredCredentials() }?.code == 15)
    #expect(try home.questions.isEmpty && home.decisions.isEmpty)

    let yes = place.client(team: "other") { _ in true }
    _ = try await yes.preferredCredentials()
    let home = try home
    #expect(home.questions.isEmpty && home.grants.isEmpty)
    #expect(home.decisions.map(\.outcome) == [.approved])
    #expect(home.decisions.first?.requester.team == "other")
    #expect(home.decisions.first?.obstacle == nil)
    let by = home.decisions.last?.by
    #expect(by == .program(user: geteuid()))
    #expect(by?.shown == "uid \(geteuid()) (in the program)")
    let given = try place.withStore { keychain in
      var lines: [String] = []
      try keychain.forEachAuditRecord { record in
        for line in record.lines where line.action == .credentialsGiven {
          lines.append("\(record.actor): \(line.subject)")
        }
      }
      return lines
    }
    #expect(given.count == 1)
    #expect(given.first?.hasPrefix("uid \(geteuid()): preferred/get") == true, "\(given)")
  }

  @Test("What becomes another network while the person thinks is not told") func changed() async throws {
    let client = place.client(team: "other") { [place] _ in
      let done = DispatchSemaphore(value: 0)
      let guest = try? SampleNetwork.guest.bytes()
      place.client().storeCredentials(forBorderAgent: Agents.kitchen, activeOperationalDataSet: guest ?? Data()) { _ in
        done.signal()
      }
      done.wait()
      return true
    }
    #expect(await failure { try await client.preferredCredentials() }?.code == 15)
  }

  @Test("Whether there is a preferred network, and whether a dataset is of it, asks nobody") func unasked() async throws
  {
    let client = place.client(team: "other") { _ in
      Issue.record("somebody is asked")
      return true
    }
    #expect(await client.isPreferredAvailable())
    #expect(await client.isPreferred(forActiveOperationalDataset: try SampleNetwork.home.bytes()))
    #expect(try await client.allCredentials().isEmpty)
  }

  @Test("A call whose task is cancelled ends while the person still thinks") func cancelled() async throws {
    let isAsked = Mutex(false)
    let isOver = DispatchSemaphore(value: 0)
    let client = place.client(team: "other") { _ in
      isAsked.withLock { $0 = true }
      _ = isOver.wait(timeout: .now() + 240)
      return true
    }
    let call = Task { try await client.preferredCredentials() }
    try await eventually("the question") { isAsked.withLock { $0 } }
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    isOver.signal()
  }
}
