import Broker
import KeychainCore
import LocalAPI
import TestKit
import Testing
import ThreadRequests

@testable import Threadkeeper

@Suite("The audit over the local API", .timeLimit(.minutes(30))) struct AuditFollowTests {
  private let store: TemporaryStore
  private let server: OperationServer

  init() throws {
    var options = KeychainOptions()
    options.auditor = "a test"
    store = try TemporaryStore(options: options)
    server = try OperationServer(store)
  }

  private func note(_ subjects: String...) throws { try note(subjects) }

  private func note(_ subjects: [String]) throws {
    try store.keychain.write { tx in for subject in subjects { try store.keychain.note(.restored, subject, in: tx) } }
  }

  /// - Parameter isDone: ends it.
  private func follow(after: Int64? = nil, last: Int64? = nil, _ isDone: (FollowAudit.Reply) throws -> Bool)
    async throws
  { try await server.follow(FollowAudit(after: after, last: last)) { try !isDone($0) } }

  @Test("Each action has its word, which scripts read") func words() {
    let actions = (0...UInt8.max).compactMap(AuditAction.init(rawValue:))
    #expect(
      actions.map(\.words) == [
        "added", "changed", "secret_changed", "deleted", "key_slot_added", "key_slot_removed", "rollback_accepted",
        "restored", "keys_rotated", "consent_approved", "consent_denied", "consent_expired", "consent_granted",
        "consent_revoked", "credentials_given", "credentials_not_given", "router_removed",
      ])
  }

  @Test("It begins with the last records, goes on with each new one, and another call goes on there") func records()
    async throws
  {
    for number in 1...5 { try note("\(number)") }
    var subjects: [String] = []
    var last: Int64 = 0
    try await follow(last: 2) { reply in
      if subjects.isEmpty { try note("6") }
      subjects += reply.records.flatMap(\.changes).map(\.subject)
      last = reply.last
      return subjects.count == 3
    }
    #expect(subjects == ["4", "5", "6"])
    try note("7")
    subjects = []
    try await follow(after: last) { reply in
      subjects += reply.records.flatMap(\.changes).map(\.subject)
      return !subjects.isEmpty
    }
    #expect(subjects == ["7"])
  }

  @Test("The first reply comes also where there is nothing, and says after which record") func nothing() async throws {
    try await follow { reply in
      #expect(reply.records.isEmpty && reply.last == 0)
      return true
    }
    try note("a")
    try await follow(last: 0) { reply in
      #expect(reply.records.isEmpty && reply.last == 1)
      return true
    }
  }

  @Test("A record with more than a message holds comes in parts, which are the whole record again") func parts()
    async throws
  {
    // What JSON makes the most of.
    let filling = String(repeating: "\u{1}", count: 290)
    try note((0..<950).map { "\($0) \(filling)" })
    try note("after")
    var record: AuditEntry?
    var (whole, lasts): ([AuditEntry], [Int64]) = ([], [])
    try await follow(last: 2) { reply in
      lasts.append(reply.last)
      for entry in reply.records {
        record?.append(entry)
        let now = record ?? entry
        record = now.continues == true ? now : nil
        if record == nil { whole.append(now) }
      }
      return whole.count == 2
    }
    #expect(whole.map(\.number) == [1, 2] && whole.map { $0.changes.count } == [950, 1])
    #expect(whole[0].changes.map(\.subject).prefix(2) == ["0 \(filling)", "1 \(filling)"])
    #expect(whole[0].changes.last?.subject == "949 \(filling)")
    // Who goes on after a break in the middle gets all of it again.
    #expect(lasts.first == 0 && lasts.last == 2)
  }

  @Test("More records than are read at a time come without a gap") func many() async throws {
    for number in 1...1_200 { try note("\(number)") }
    var numbers: [Int64] = []
    try await follow(after: 0) { reply in
      numbers += reply.records.map(\.number)
      return numbers.count >= 1_200
    }
    #expect(numbers == Array(1...1_200))
  }

  @Test("A number that cannot be is refused, and one that is not there, too") func refused() async throws {
    for (after, last, exit) in [(-1, nil, 64), (nil, -1, 64), (7, nil, 65)] as [(Int64?, Int64?, Int32)] {
      let error = await #expect(throws: VarlinkError.self) { try await follow(after: after, last: last) { _ in false } }
      #expect(error.flatMap { AnswerFailure($0)?.exit } == exit, "\(String(describing: error))")
    }
  }
}

@Suite("Lists over the local API", .timeLimit(.minutes(30))) struct ListTests {
  private let store: TemporaryStore
  private let server: OperationServer

  init() throws {
    store = try TemporaryStore()
    server = try OperationServer(store)
  }

  private func addRouters(_ count: Int) throws -> [String] {
    let agents = (0..<count).map { number in
      let digits = String(number + 1)
      return String(repeating: "0", count: 32 - digits.count) + digits
    }
    let name = String(repeating: "n", count: 60)
    try server.context.receive("announce", agents.map { #"{"border_agent_id":"\#($0)","name":"\#(name)"}"# })
    return agents
  }

  @Test("A list that is longer than a message comes in several, and is whole", arguments: [0, 50, 2_000]) func parts(
    count: Int
  ) async throws {
    let agents = try addRouters(count)
    var replies: [Rows<JSONValue>] = []
    try await server.follow(ListRouters()) {
      replies.append($0)
      return true
    }
    let isWhole = replies.flatMap(\.rows).compactMap { $0["border_agent_id"]?.text }.sorted() == agents
    #expect(isWhole)
    #expect(replies.count == max(1, count / 50))
    // What is said of the whole list comes once.
    #expect(replies.filter { $0.note != nil }.count == (count == 0 ? 1 : 0))
  }
}

@Suite("JSON for scripts") struct JSONTextTests {
  @Test("JSON has sorted keys in snake_case") func json() throws {
    struct Value: Encodable {
      let networkName = "a/b"
      let active = 1
      let missing: String? = nil
    }
    #expect(
      try JSONText.pretty(Value()) == """
        {
          "active" : 1,
          "network_name" : "a/b"
        }

        """)
  }
}
