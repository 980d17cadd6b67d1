import FoundationEssentials
import Home
import TestKit
import Testing
import ThreadDataset
import ThreadRequests
import Wire

@Suite struct ThreadAnswerTests {
  @Test("an answer is flat, sorted and without what it has not") func wire() {
    var data = AnswerData()
    data.change = .stored
    data.preferred = .match
    #expect(
      String(decoding: ThreadAnswer(data, transaction: "r-1").json(), as: UTF8.self)
        == #"{"data":{"change":"stored","preferred":"match"},"status":"ok","transaction":"r-1","v":1}"#)
    let failure = AnswerFailure(.notFound, field: "border_agent_id", "nothing there")
    #expect(
      String(decoding: ThreadAnswer(failure).json(), as: UTF8.self)
        == #"{"error":{"code":"not_found","field":"border_agent_id","message":"nothing there"},"status":"error","v":1}"#
    )
  }

  @Test("an answer without fields has an empty object as data") func empty() {
    #expect(String(decoding: ThreadAnswer(AnswerData()).json(), as: UTF8.self) == #"{"data":{},"status":"ok","v":1}"#)
  }

  @Test("a record comes back whole, to the second") func record() throws {
    let dataset = try SampleNetwork.home.dataset(at: 7)
    var record = CredentialRecord(
      agent: BorderAgentID(hex: "a1b2c3d4e5f60718"), network: try #require(dataset.extendedPANID), dataset: dataset,
      isActive: true)
    record.created = WireTime(milliseconds: 1_763_700_000_000)
    record.modified = WireTime(milliseconds: 1_763_700_060_000)
    let answer = ThreadAnswer(AnswerData(credentials: [record]))
    let text = String(decoding: answer.json(), as: UTF8.self)
    #expect(text.contains(#""created_at":"2025-11-21T04:40:00Z""#))
    #expect(text.contains(#""pan_id":4660"#))
    #expect(ThreadAnswer(json: answer.json()) == answer)
    #expect(answer.data?.isSecret == true)
  }

  @Test("a record without its secret has no dataset, key or PSKc in it") func withoutSecret() throws {
    let dataset = try SampleNetwork.home.dataset(at: 7)
    let record = CredentialRecord(
      agent: nil, network: try #require(dataset.extendedPANID), dataset: dataset, isActive: false)
    var bare = record
    bare.dataset = nil
    let data = AnswerData(credentials: [bare])
    let text = String(decoding: data.json(), as: UTF8.self)
    #expect(!data.isSecret)
    #expect(!text.contains(SampleNetwork.home.networkKey))
    #expect(!text.contains(SampleNetwork.home.pskc))
    #expect(!text.contains("border_agent_id"))
    var dumped = "\(record)"
    dump(record, to: &dumped)
    #expect(!dumped.contains(SampleNetwork.home.networkKey))
  }

  @Test("a result is the data or the failure that was told") func result() throws {
    var data = AnswerData()
    data.available = true
    #expect(try ThreadAnswer(data).result() == data)
    let failure = AnswerFailure(.consentDenied, "no")
    #expect(throws: failure) { try ThreadAnswer(failure).result() }
  }

  @Test("what is no answer, or one of another version, is none") func strange() {
    #expect(ThreadAnswer(json: Array(#"{"v":2,"status":"ok","data":{}}"#.utf8)) == nil)
    #expect(ThreadAnswer(json: Array("{}".utf8)) == nil)
    #expect(ThreadAnswer(json: []) == nil)
    for data in [#"{"credentials":[{}]}"#, #"{"credentials":{}}"#, #"{"change":"lost"}"#, #"{"pending":[1]}"#, "[]"] {
      #expect(ThreadAnswer(json: Array(#"{"data":\#(data),"status":"ok","v":1}"#.utf8)) == nil, "\(data)")
    }
  }

  @Test("the codes stay as they are: automations are written against them") func codes() {
    #expect(
      AnswerCode.allCases.map(\.rawValue) == [
        "invalid_payload", "incomplete_dataset", "bad_dataset", "not_authorized", "not_enrolled", "consent_required",
        "consent_denied", "consent_expired", "stale_id", "not_found", "conflict", "rate_limited", "too_many_routers",
        "expired", "read_only", "unsupported", "damaged_credentials", "too_large", "ending", "store",
      ])
  }

  @Test("the commands stay as they are") func commands() {
    #expect(
      RequestCommand.allCases.map(\.rawValue) == [
        "ping", "credentials/store", "credentials/delete", "credentials/get", "credentials/list",
        "credentials/list_active", "credentials/share", "network/get", "networks/nearby", "preferred/available",
        "preferred/check", "preferred/get", "preferred/set", "preferred/forget", "networks/forget", "consent/approve",
        "consent/deny", "consent/ask", "consent/pending", "routers/list", "networks/list", "alerts/list", "alerts/test",
        "alerts/confirm",
      ])
    #expect(RequestCommand.allCases.filter(\.needsConsent) == [.getNetwork, .nearbyNetworks, .getPreferred])
  }

  @Test("a published state keeps its form inside an answer") func states() throws {
    struct State: WireObject {
      func fields<Coder: WireCoder>(_ c: inout Coder) {
        c.needed("differs", ["channel"])
        c.needed("ends_at", WireNull<String>(nil))
        c.needed("name", "Living room")
        c.needed("preferred", true)
        c.needed("routers", 2)
      }
    }
    let value = State().jsonValue()
    #expect(value["differs"]?.array == [.text("channel")] && value["ends_at"] == .null)
    #expect(value["name"]?.text == "Living room")
    #expect(value["routers"]?.integer == 2)
    #expect(value["preferred"]?.bool == true)
    var data = AnswerData()
    data.networks = [value]
    let answer = ThreadAnswer(data)
    #expect(ThreadAnswer(json: answer.json())?.data == data)
    #expect(
      String(decoding: answer.json(), as: UTF8.self).contains("[\(String(decoding: State().json(), as: UTF8.self))]"))
  }
}

@Suite("What is said at the terminal of who waits for consent") struct WaitingQuestionTests {
  @Test("It names the command that approves it, and how long it waits, where that can be read") func words() throws {
    var question = WaitingQuestion()
    (question.id, question.expiresAt) = ("c-1", "2026-11-21T04:38:00Z")
    let now = try Date("2026-11-21T04:36:00Z", strategy: .iso8601) + 0.5
    #expect(
      question.words(now: now) == "Waiting for consent, up to 120 s: `threadkeeper consent approve c-1`, "
        + "by the daemon's user on its machine.")
    #expect(question.words(now: now + 500).hasPrefix("Waiting for consent, up to 0 s: "))
    question.expiresAt = "soon"
    #expect(question.words(now: now).hasPrefix("Waiting for consent: `"))
  }

  @Test("A question is that of a request whose transaction it has, byte for byte") func transactions() {
    var question = WaitingQuestion()
    #expect(!question.isAwaited(by: ""))
    question.transactions = ["a", "\u{E9}"]
    #expect(question.isAwaited(by: "a") && question.isAwaited(by: "\u{E9}"))
    #expect(!question.isAwaited(by: "e\u{301}") && !question.isAwaited(by: "b"))
  }
}
