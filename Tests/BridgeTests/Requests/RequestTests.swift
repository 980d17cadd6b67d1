// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Requests over MQTT")
struct RequestTests {
  private var scene: RequestScene

  init() throws { scene = try RequestScene() }

  // MARK: Where an answer goes

  private func read(
    _ command: String = "ping", _ json: String = "{}",
    _ change: (inout IncomingMessage) -> Void = { _ in }
  ) -> MQTTRequest {
    var message = RequestScene.message(command, json, from: "phone")
    change(&message)
    return MQTTRequest(message, command: command, user: "phone", base: RequestScene.base)
  }

  @Test(
    "Only a topic that the user alone may read is answered on",
    arguments: [
      ("tk/out/phone/response/7", "tk/out/phone/response/7"),
      ("tk/out/phone/x", "tk/out/phone/x"), (nil, "tk/out/phone/response/ping"),
      ("tk/out/hub/response/7", "tk/out/phone/response/ping"),
      ("tk/out/phone/../hub/x", "tk/out/phone/response/ping"),
      ("tk/out/phone/+", "tk/out/phone/response/ping"),
      ("tk/out/phone/dataset/set", "tk/out/phone/response/ping"),
      ("tk/bridge/state", "tk/out/phone/response/ping"),
    ])
  func replyTopics(_ asked: String?, _ topic: String) {
    let request = read {
      $0.responseTopic = asked
      $0.correlationData = [1, 2]
    }
    #expect(request.reply == .topic(topic, correlation: [1, 2], transaction: nil))
  }

  @Test("What cannot be a command has a topic of its own for answers")
  func unknownTopic() {
    let request = read("a+b", #"{"transaction":"r-1"}"#)
    #expect(
      request.reply
        == .topic("tk/out/phone/response/unknown", correlation: nil, transaction: "r-1"))
    #expect(request.fields.failure?.known == .unsupported)
  }

  @Test(
    "An answer is of use for 30 seconds, or for what was left to its request",
    arguments: [(nil, 30), (7, 7), (0, 30), (3_600, 30)] as [(UInt32?, Int)])
  func timeouts(_ expiry: UInt32?, _ timeout: Int) {
    #expect(read { $0.messageExpiry = expiry }.timeout == timeout)
  }

  @Test(
    "What is wrong with a payload is answered, with its transaction where that can be read",
    arguments: [
      ("{", "invalid_payload", nil, nil), ("[]", "invalid_payload", nil, nil),
      (#"{"transaction":"r-1","dataset":1}"#, "invalid_payload", "dataset", "r-1"),
      (#"{"transaction":"r-1","sealed":"x"}"#, "invalid_payload", "sealed", "r-1"),
      (#"{"transaction":1}"#, "invalid_payload", "transaction", nil),
    ] as [(String, String, String?, String?)])
  mutating func badPayloads(
    _ json: String, _ code: String, _ field: String?, _ transaction: String?
  ) {
    let published = scene.ask("credentials/store", json, from: "phone")
    #expect(published?.failure?.code == code)
    #expect(published?.failure?.field == field)
    #expect(published?.answer?.transaction == transaction)
    #expect(published?.isRefusal == true)
  }

  @Test("A request that is late, too frequent, or has too much Correlation Data is refused")
  func refusals() {
    #expect(read { $0.messageExpiry = 0 }.fields.failure?.known == .expired)
    let long = read { $0.correlationData = [UInt8](repeating: 0, count: 129) }
    #expect(long.fields.failure?.known == .invalidPayload)
    guard case .topic(_, let correlation, _) = long.reply else { return }
    #expect(correlation == nil)
    let often = MQTTRequest(
      RequestScene.message("ping", "{}", from: "phone"), command: "ping", user: "phone",
      base: RequestScene.base, isTooOften: true)
    #expect(often.fields.failure == .tooManyRequests)
  }

  @Test(
    "Fields that are missing or out of range are named",
    arguments: [
      ("credentials/store", "{}", "border_agent_id"),
      ("credentials/store", #"{"border_agent_id":"a1b2c3d4e5f60718"}"#, "dataset"),
      ("preferred/check", #"{"dataset":"zz"}"#, "dataset"), ("network/get", "{}", "ext_pan_id"),
      ("preferred/set", "{}", "ext_pan_id"), ("preferred/set", #"{"id":"p-1"}"#, "id"),
      ("networks/forget", #"{"id":"x"}"#, "id"), ("consent/approve", "{}", "id"),
      ("consent/approve", #"{"id":"c-1","scope":"ever"}"#, "scope"),
    ])
  mutating func badFields(_ command: String, _ json: String, _ field: String) {
    let failure = scene.ask(command, json, from: "phone")?.failure
    #expect(failure?.field == field)
    #expect(failure?.help == nil)
  }

  @Test("What this version does not do is unsupported")
  mutating func unsupported() {
    let share = scene.ask("credentials/share", #"{"ext_pan_id":"0000000000000001"}"#, from: "phone")
    #expect(share?.failure?.message == "credentials/share is not in this version")
    #expect(share?.failure?.known == .unsupported)
  }

  // MARK: Envelopes

  @Test("A sealed request is opened once, and its own transaction is repeated")
  mutating func sealedOnce() throws {
    let request = try scene.sealed("ping", #"{"transaction":"inside"}"#, from: "phone")
    #expect(scene.receive(request, "ping", from: "phone")?.answer?.transaction == "inside")
    #expect(scene.receive(request, "ping", from: "phone")?.failure?.code == "replayed")
    // It opens as long as clocks may differ.
    scene.now = scene.now.adding(seconds: 89)
    #expect(scene.receive(request, "ping", from: "phone")?.failure?.code == "replayed")
    scene.now = scene.now.adding(seconds: 1)
    #expect(scene.receive(request, "ping", from: "phone")?.failure?.code == "expired")
  }

  @Test("Whose requests must be sealed is not believed in plaintext, revoked or not")
  mutating func plaintext() throws {
    try scene.enroll("safe", trust: .signed)
    #expect(scene.ask("ping", from: "safe")?.failure?.field == "sealed")
    #expect(scene.ask("ping", from: "safe")?.failure?.known == .notAuthorized)
    #expect(try scene.askSealed("ping", from: "safe")?.isRefusal == false)
    scene.handle(.revoke("safe", forgets: false, by: .commandLine(user: 0)))
    #expect(scene.ask("ping", from: "safe")?.failure?.known == .notAuthorized)
    let sealed = try scene.askSealed("ping", from: "safe", id: "2")
    #expect(sealed?.failure?.known == .notEnrolled)
    #expect(sealed?.failure?.field == "sealed")
  }

  @Test("Nothing is opened that another one has signed, nor without the daemon's keys")
  mutating func otherKeys() throws {
    let request = try scene.sealed("ping", from: "phone", by: "hub")
    #expect(scene.receive(request, "ping", from: "phone")?.failure?.code == "unknown_issuer")
    scene.exchange = SealedExchange(nil)
    let own = try scene.askSealed("ping", from: "phone")
    #expect(own?.failure?.code == "damaged_enrolment")
    #expect(own?.failure?.field == "sealed")
  }

  @Test("Garbage is answered, and changes nothing")
  mutating func garbage() throws {
    var random = SplitMix(state: 7)
    let hex = try OperationalDataset.sample().hex
    let sound = Array(#"{"border_agent_id":"\#(Self.stored)","dataset":"\#(hex)","id":"x"}"#.utf8)
    let sealed = try scene.sealed("credentials/store", from: "phone").payload
    let home = scene.home
    for round in 0..<300 {
      var payload = round % 2 == 0 ? sound : sealed
      for _ in 0...Int(random.next() % 3) {
        let place = Int(random.next() % UInt64(payload.count))
        switch random.next() % 3 {
        case 0: payload[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: payload.remove(at: place)
        default: payload.removeLast(payload.count - place)
        }
        if payload.isEmpty { payload = [0] }
      }
      var message = RequestScene.message("credentials/store", "", from: "phone")
      message.payload = payload
      let published = scene.receive(message, "credentials/store", from: "phone")
      #expect(published?.answer != nil)
      if published?.isRefusal == true { #expect(scene.home == home) }
      scene.home = home
    }
  }

  // MARK: Secrets

  private static let stored = "a1b2c3d4e5f60718"

  private mutating func store(from user: ExactName = "hub") throws -> String {
    let dataset = try OperationalDataset.sample()
    let published = scene.ask(
      "credentials/store", #"{"border_agent_id":"\#(Self.stored)","dataset":"\#(dataset.hex)"}"#,
      from: user)
    #expect(
      published?.text == #"{"data":{"change":"stored","preferred":"match"},"status":"ok","v":1}"#)
    return dataset.hex
  }

  @Test("Secrets are sealed to the enrolled key, bound to the answer's topic")
  mutating func sealedSecrets() throws {
    let hex = try store()
    let command = #"{"border_agent_id":"\#(Self.stored)","transaction":"r-17"}"#
    let answer = scene.ask("credentials/get", command, from: "hub")
    let published = try #require(answer)
    #expect(!published.text.contains(hex))
    #expect(published.answer?.transaction == "r-17")
    #expect(published.message.publication.contentType == "application/json")
    let record = try scene.unsealed(published, for: "hub").credentials?.first
    #expect(record?.dataset?.hex == hex)
    #expect(record?.agent?.description == Self.stored)
    #expect(throws: EnvelopeRefusal.self) { try scene.unsealed(published, for: "phone") }
  }

  @Test("Who has no key gets no secret, and a list over MQTT holds none")
  mutating func noKey() throws {
    let hex = try store(from: "poor")
    let get = scene.ask("credentials/get", #"{"border_agent_id":"\#(Self.stored)"}"#, from: "poor")
    #expect(get?.failure == .noKey)
    let answer = scene.ask("credentials/list", from: "poor")
    let list = try #require(answer)
    #expect(
      list.text == #"{"data":{"credentials":[{"active":false,"active_timestamp":1,"#
        + #""border_agent_id":"a1b2c3d4e5f60718","channel":15,"#
        + #""created_at":"2023-11-14T22:13:20Z","ext_pan_id":"0101010101010101","#
        + #""modified_at":"2023-11-14T22:13:20Z","network_name":"home-thread","pan_id":4660}]},"#
        + #""status":"ok","v":1}"#)
    #expect(!list.text.contains(hex))
  }

  @Test("On the socket a list holds secrets, and names what cannot be opened")
  mutating func localList() throws {
    let dataset = try OperationalDataset.sample()
    for agent in [1, 2] as [UInt64] {
      let stored = try scene.call(.storeCredentials) {
        $0.agent = BorderAgentID(high: agent, low: 0)
        $0.dataset = dataset
      }
      #expect(stored?.change == .stored)
    }
    scene.secrets[.router(BorderAgentID(high: 2, low: 0))] = nil
    let list = try scene.call(.listCredentials)
    #expect(list?.credentials?.map(\.dataset) == [dataset])
    #expect(list?.damaged == ["0000000000000002"])
    #expect(throws: AnswerFailure.self) {
      try scene.call(.getCredentials) { $0.agent = BorderAgentID(high: 2, low: 0) }
    }
  }

  @Test("What may be in a record that cannot be read is damaged, over MQTT and on the socket")
  mutating func damagedRecords() throws {
    scene.home.hasDamage = true
    scene.home.hasLostCredentials = true
    let agent = #"{"border_agent_id":"\#(Self.stored)"}"#
    let hex = try OperationalDataset.sample().hex
    for (command, json) in [
      ("preferred/get", "{}"), ("preferred/available", "{}"),
      ("preferred/check", #"{"dataset":"\#(hex)"}"#), ("credentials/get", agent),
      ("credentials/delete", agent), ("network/get", #"{"ext_pan_id":"0101010101010101"}"#),
    ] {
      let published = scene.ask(command, json, from: "hub")
      #expect(published?.failure?.known == .damagedCredentials, "\(command)")
    }
    for command in [RequestCommand.getPreferred, .isPreferredAvailable] {
      let failure = #expect(throws: AnswerFailure.self) { try scene.call(command) }
      #expect(failure?.known == .damagedCredentials)
    }
    #expect(try scene.call(.listCredentials)?.credentials == [])
  }

  @Test("Of several networks that a person has agreed to, those that open are given")
  mutating func nearbyDamage() throws {
    for agent in [1, 2] as [UInt64] {
      scene.handle(
        .message(
          {
            var message = RouterMessage(.announce, .router(BorderAgentID(high: agent, low: 0)))
            message.dataset = try? OperationalDataset.sample(UInt8(agent)).summary
            return message
          }(), from: "hub"), try OperationalDataset.sample(UInt8(agent)))
    }
    let second = RecordKey.router(BorderAgentID(high: 2, low: 0))
    for (damage, left, named) in [
      (nil, 1, ["0000000000000002"]), (try OperationalDataset.sample(7), 1, nil),
    ] as [(OperationalDataset?, Int, [String]?)] {
      scene.secrets[second] = damage
      #expect(scene.ask("networks/nearby", #"{"transaction":"r"}"#, from: "phone") == nil)
      approve()
      let published = try #require(scene.answerSettled().first)
      let data = try scene.unsealed(published, for: "phone")
      #expect(data.credentials?.count == left && data.damaged == named)
    }
    scene.secrets = [:]
    #expect(scene.ask("networks/nearby", from: "phone") == nil)
    approve()
    #expect(scene.answerSettled().first?.failure?.known == .damagedCredentials)
  }

  @Test("What does not open is damaged; its text names nothing of it")
  mutating func damage() throws {
    let hex = try store()
    scene.secrets = [:]
    let get = scene.ask("credentials/get", #"{"border_agent_id":"\#(Self.stored)"}"#, from: "hub")
    #expect(get?.failure?.known == .damagedCredentials)
    #expect(get?.text.contains(hex) == false)
  }

  @Test(
    "No answer holds a secret in plaintext, whatever is asked", arguments: RequestCommand.allCases)
  mutating func secrecy(_ command: RequestCommand) throws {
    _ = try store()
    let secret = String(repeating: "01", count: 16)
    let hex = try OperationalDataset.sample(2, key: 1).hex
    let named = #""border_agent_id":"\#(Self.stored)""#
    for json in [
      "{}", "{\(named)}", #"{\#(named),"dataset":"\#(hex)"}"#, #"{"dataset":"\#(hex)x"}"#,
      #"{"ext_pan_id":"0101010101010101"}"#, #"{"ext_pan_id":"\#(hex)"}"#,
      #"{"id":"\#(hex)"}"#, #"{"network_name":"\#(hex)"}"#,
    ] {
      for user: ExactName in ["hub", "phone", "poor"] {
        let published = scene.ask(command.rawValue, json, from: user)
        #expect(published?.text.contains(secret) != true, "\(json) of \(user.text)")
      }
    }
    approve()
    for published in scene.answerSettled() { #expect(!published.text.contains(secret)) }
  }

  @Test("An answer that no client takes is too large")
  func tooLargeForClients() throws {
    func published(_ bytes: Int) -> ThreadAnswer? {
      var data = AnswerData()
      data.routers = [.text(String(repeating: "x", count: bytes))]
      let answer = scene.exchange.message(
        .success(data), to: Requester(.login("phone"), team: "phone"),
        at: .topic("t", correlation: nil, transaction: "r-1"), in: scene.home, now: scene.now)
      #expect((answer?.refusal != nil) == (bytes > 63_000))
      return answer.flatMap { ThreadAnswer(json: $0.message.publication.payload) }
    }
    #expect(published(63_000)?.status == .ok)
    let refused = published(63_488)
    #expect(refused?.error?.known == .tooLarge)
    #expect(refused?.transaction == "r-1")
  }

  @Test("An answer that no envelope can hold is too large")
  mutating func tooLarge() throws {
    let dataset = try OperationalDataset.sample()
    for agent in 1...20 as ClosedRange<UInt64> {
      let id = BorderAgentID(high: agent, low: 0)
      var message = RouterMessage(.announce, .router(id))
      message.dataset = dataset.summary
      scene.handle(.message(message, from: "hub"), dataset)
    }
    #expect(scene.ask("networks/nearby", from: "phone")?.failure == .tooLargeToSeal)
    #expect(scene.home.questions.isEmpty)
    for agent in 15...20 as ClosedRange<UInt64> {
      scene.handle(
        .message(RouterMessage(.leave, .router(BorderAgentID(high: agent, low: 0))), from: "hub"))
    }
    #expect(scene.ask("networks/nearby", from: "phone") == nil)
    approve()
    let answers = scene.answerSettled()
    let published = try #require(answers.first)
    #expect(try scene.unsealed(published, for: "phone").credentials?.count == 14)
  }

  // MARK: Consent

  private mutating func approve(always: Bool = false) {
    guard let question = scene.home.questions.first else { return }
    _ = try? scene.call(.approveConsent, as: 0, isAdministrator: true) {
      $0.id = question.id.questionText
      $0.scope = always ? .always : .once
    }
  }

  @Test("A person is asked, and the answer goes where it was asked for, sealed")
  mutating func consent() throws {
    let hex = try store()
    var message = RequestScene.message("preferred/get", #"{"transaction":"r-1"}"#, from: "phone")
    message.responseTopic = "tk/out/phone/response/9"
    message.correlationData = [9]
    #expect(scene.receive(message, "preferred/get", from: "phone") == nil)

    let pending = scene.ask("consent/pending", from: "phone")?.answer?.data?.pending
    #expect(pending?.map(\.command) == ["preferred/get"])
    #expect(pending?.first?.transactions == ["r-1"])
    #expect(pending?.first?.expiresAt == "2023-11-14T22:15:20Z")
    #expect(pending?.first?.reason == nil)

    approve()
    let answers = scene.answerSettled()
    let published = try #require(answers.first)
    #expect(published.message.publication.topic == "tk/out/phone/response/9")
    #expect(published.message.publication.correlationData == [9])
    #expect(published.answer?.transaction == "r-1")
    #expect(published.message.expires == scene.now.adding(seconds: 30))
    #expect(try scene.unsealed(published, for: "phone").credentials?.first?.dataset?.hex == hex)
  }

  @Test("With always the next answer comes at once; a key that is gone gets nothing")
  mutating func always() throws {
    _ = try store()
    #expect(scene.ask("preferred/get", from: "phone") == nil)
    approve(always: true)
    #expect(scene.answerSettled().count == 1)
    #expect(scene.ask("preferred/get", from: "phone")?.answer?.data?.sealed != nil)
    try scene.enroll("phone")
    #expect(scene.ask("preferred/get", from: "phone") == nil)
    scene.handle(.revoke("phone", forgets: true, by: .commandLine(user: 0)))
    scene.handle(.tick(Link()))
    #expect(scene.ask("preferred/get", from: "phone")?.failure == .noKey)
  }

  @Test("A caller on the socket waits, and only one that is there is given something")
  mutating func callers() throws {
    _ = try store()
    let place = try scene.callers.reserve(
      transaction: "t", isOwnUser: false, isThere: { true })
    #expect(try scene.call(.getPreferred) == nil)
    let question = try #require(scene.home.questions.first)
    try scene.callers.wait(at: place, for: question.id)
    let pending = try scene.call(.pendingConsents)?.pending
    #expect(pending?.first?.transactions == ["t"])
    approve()
    #expect(scene.answerSettled().isEmpty)
    let answer = scene.callers.answer(at: place)
    #expect(answer?.transaction == "t")
    #expect(answer?.data?.credentials?.first?.dataset != nil)

    scene.callers.forget(place)
    #expect(try scene.call(.getPreferred) == nil)
    approve()
    #expect(scene.home.decisions.last?.obstacle == .hungUp)
  }

  @Test("An administrator reads why; others do not")
  mutating func reasons() throws {
    _ = try store()
    _ = try scene.call(.getPreferred, as: 0, isAdministrator: true)
    let pending = try scene.call(.pendingConsents, as: 0, isAdministrator: true)?.pending
    #expect(pending?.first?.reason?.contains("\"home-thread\"") == true)
    #expect(try scene.call(.pendingConsents, as: 0)?.pending?.first?.reason == nil)
  }

  // MARK: The home

  @Test("A command names its home, a decision is about the home of its question")
  mutating func homes() throws {
    _ = try store()
    _ = scene.ask("preferred/get", from: "phone")
    let question = try #require(scene.home.questions.first)
    let all = ["attic": Home(rules: scene.homeRules), "home": scene.home]
    func home(_ command: RequestCommand, named: String? = nil) throws -> String {
      var request = ThreadRequest(command)
      request.home = named
      request.id = question.id.questionText
      return try LocalRequest(request, user: 0, team: "root").home(of: ["attic", "home"]) {
        all[$0]
      }
    }
    #expect(try home(.getPreferred) == "attic")
    #expect(try home(.getPreferred, named: "home") == "home")
    #expect(try home(.approveConsent) == "home")
    #expect(try home(.approveConsent, named: "attic") == "attic")
    let failure = #expect(throws: AnswerFailure.self) { try home(.ping, named: "cellar") }
    #expect(failure?.field == "home")
    #expect(failure?.help == "homes: attic, home")
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}

/// Vigna's SplitMix64: the same numbers in every run.
private struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
