import Broker
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Requests over MQTT") struct RequestTests {
  private let scene: RequestScene

  init() throws { scene = try RequestScene() }

  // MARK: Where an answer goes

  private func read(
    _ command: String = "ping", _ json: String = "{}", _ change: (inout IncomingMessage) -> Void = { _ in }
  ) -> MQTTRequest {
    var message = RequestScene.message(command, json)
    change(&message)
    return MQTTRequest(message, command: command, user: "phone", base: "tk")
  }

  @Test(
    "Only a topic that the user alone may read is answered on",
    arguments: [
      ("tk/out/phone/response/7", "tk/out/phone/response/7"), ("tk/out/phone/x", "tk/out/phone/x"),
      (nil, "tk/out/phone/response/ping"), ("tk/out/hub/response/7", "tk/out/phone/response/ping"),
      ("tk/out/phone/../hub/x", "tk/out/phone/response/ping"), ("tk/out/phone/+", "tk/out/phone/response/ping"),
      ("tk/out/phone/dataset/set", "tk/out/phone/response/ping"), ("tk/bridge/state", "tk/out/phone/response/ping"),
    ]) func replyTopics(_ asked: String?, _ topic: String)
  {
    let request = read {
      $0.responseTopic = asked
      $0.correlationData = [1, 2]
    }
    #expect(request.reply == .topic(topic, correlation: [1, 2], transaction: nil))
  }

  @Test("What cannot be a command has a topic of its own for answers") func unknownTopic() {
    let request = read("a+b", #"{"transaction":"r-1"}"#)
    #expect(request.reply == .topic("tk/out/phone/response/unknown", correlation: nil, transaction: "r-1"))
    #expect(request.fields.failure?.known == .unsupported)
  }

  @Test(
    "An answer is of use for 30 seconds, or for what was left to its request",
    arguments: [(nil, 30), (7, 7), (0, 30), (3_600, 30)] as [(UInt32?, Int)]) func timeouts(
      _ expiry: UInt32?, _ timeout: Int
    )
  { #expect(read { $0.messageExpiry = expiry }.timeout == timeout) }

  @Test(
    "What is wrong with a payload is answered, with its transaction where that can be read",
    arguments: [
      ("{", "invalid_payload", nil, nil), ("[]", "invalid_payload", nil, nil),
      (#"{"transaction":"r-1","dataset":1}"#, "invalid_payload", "dataset", "r-1"),
      (#"{"transaction":"r-1","sealed":"x"}"#, "invalid_payload", "sealed", "r-1"),
      (#"{"transaction":1}"#, "invalid_payload", "transaction", nil), ("{}", "invalid_payload", "border_agent_id", nil),
    ] as [(String, String, String?, String?)]) func badPayloads(
      _ json: String, _ code: String, _ field: String?, _ transaction: String?
    ) throws
  {
    let answer = try #require(try scene.ask("credentials/store", json)?.answer)
    #expect(answer.error?.code == code && answer.error?.field == field)
    #expect(answer.transaction == transaction && answer.error?.help == nil)
  }

  @Test("A request that is late, too frequent, or has too much Correlation Data is refused") func refusals() {
    #expect(read { $0.messageExpiry = 0 }.fields.failure?.known == .expired)
    let long = read { $0.correlationData = [UInt8](repeating: 0, count: 129) }
    #expect(long.fields.failure?.known == .invalidPayload)
    guard case .topic(_, let correlation, _) = long.reply else { return }
    #expect(correlation == nil)
    let often = MQTTRequest(RequestScene.message("ping"), command: "ping", user: "phone", base: "tk", isTooOften: true)
    #expect(often.fields.failure == .tooManyRequests)
  }

  @Test(
    "Ids and scopes that are none are named",
    arguments: [
      ("preferred/set", #"{"id":"p-1"}"#, "id"), ("networks/forget", #"{"id":"x"}"#, "id"),
      ("consent/approve", #"{"id":"c-1","scope":"ever"}"#, "scope"),
      ("preferred/get", #"{"purpose":"read"}"#, "purpose"),
    ]) func badFields(_ command: String, _ json: String, _ field: String) throws
  { #expect(try scene.ask(command, json)?.failure?.field == field) }

  @Test("A code to share credentials is for people, and no request gets one") func unsupported() throws {
    let share = try scene.ask("credentials/share", #"{"ext_pan_id":"0000000000000001"}"#)
    #expect(share?.failure?.message == "a code is shown to people, and to no program")
    #expect(share?.failure?.known == .unsupported)
  }

  // MARK: Envelopes

  @Test("A sealed request is opened once, and its own transaction is repeated") func sealedOnce() throws {
    let request = try scene.sealed("ping", #"{"transaction":"inside"}"#)
    #expect(try scene.receive(request)?.answer?.transaction == "inside")
    #expect(try scene.receive(request)?.failure?.code == "replayed")
    // It opens as long as clocks may differ.
    scene.kit.time.advance(seconds: 90)
    #expect(try scene.receive(request)?.failure?.code == "expired")
  }

  @Test("Whose requests must be sealed is not believed in plaintext, revoked or not") func plaintext() throws {
    try scene.enroll("safe", trust: .signed)
    func isRefused() throws -> Bool {
      let failure = try scene.ask("ping", from: "safe")?.failure
      return failure?.field == "sealed" && failure?.known == .notAuthorized
    }
    #expect(try isRefused())
    #expect(try scene.askSealed("ping", from: "safe")?.answer?.status == .ok)
    try scene.handle(.revoke("safe", forgets: false, by: .commandLine(user: 0)))
    #expect(try isRefused())
    let sealed = try scene.askSealed("ping", from: "safe", id: "2")?.failure
    #expect(sealed?.known == .notEnrolled && sealed?.field == "sealed")
  }

  @Test("Nothing is opened that another one has signed, nor without the daemon's keys") func otherKeys() throws {
    let request = try scene.sealed("ping", by: "hub")
    #expect(try scene.receive(request)?.failure?.code == "unknown_issuer")
    scene.loseKeys()
    let own = try scene.askSealed("ping")?.failure
    #expect(own?.code == "unsupported" && own?.field == "sealed")
  }

  @Test("Garbage is answered, and changes nothing") func garbage() throws {
    var random = SeededGenerator(seed: 7)
    let hex = OperationalDataset.of(1).hex
    let sound = Array(#"{"border_agent_id":"\#(Self.stored)","dataset":"\#(hex)","id":"x"}"#.utf8)
    let sealed = try scene.sealed("credentials/store").payload
    for round in 0..<300 {
      var payload = round % 2 == 0 ? sound : sealed
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        let place = Int.random(in: 0..<payload.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: payload[place] = .random(in: .min ... .max, using: &random)
        case 1: payload.remove(at: place)
        default: payload.removeLast(payload.count - place)
        }
        if payload.isEmpty { payload = [0] }
      }
      // No more than a user may ask.
      if round % 10 == 0 { scene.kit.time.advance(seconds: 1) }
      var message = RequestScene.message("credentials/store")
      message.payload = payload
      let before = scene.home
      let answer = try #require(try scene.receive(message)?.answer)
      if answer.status == .error { #expect(scene.home.equals(before)) }
      #expect(answer.error != .tooManyRequests)
    }
  }

  // MARK: Secrets

  private static let stored = "a1b2c3d4e5f60718"
  private static let agent = #"{"border_agent_id":"\#(stored)"}"#

  private func store(from user: ExactName = "hub") throws -> String {
    let hex = OperationalDataset.of(1).hex
    let published = try scene.ask(
      "credentials/store", #"{"border_agent_id":"\#(Self.stored)","dataset":"\#(hex)"}"#, from: user)
    #expect(published?.text == #"{"data":{"change":"stored","preferred":"match"},"status":"ok","v":1}"#)
    return hex
  }

  @Test("Secrets are sealed to the enrolled key, bound to the answer's topic") func sealedSecrets() throws {
    let hex = try store()
    let command = #"{"border_agent_id":"\#(Self.stored)","transaction":"r-17"}"#
    let published = try #require(try scene.ask("credentials/get", command, from: "hub"))
    #expect(!published.text.contains(hex))
    #expect(published.answer?.transaction == "r-17")
    #expect(published.contentType == "application/json")
    let record = try scene.unsealed(published, for: "hub").credentials?.first
    #expect(record?.dataset?.hex == hex && record?.agent?.description == Self.stored)
    #expect(throws: EnvelopeRefusal.self) { try scene.unsealed(published) }
  }

  @Test("Who has no key gets no secret, and a list over MQTT holds none") func noKey() throws {
    let hex = try store(from: "poor")
    #expect(try scene.ask("credentials/get", Self.agent, from: "poor")?.failure == .noKey)
    let list = try #require(try scene.ask("credentials/list", from: "poor"))
    #expect(
      list.text == #"{"data":{"credentials":[{"active":false,"active_timestamp":1,"#
        + #""border_agent_id":"a1b2c3d4e5f60718","channel":15,"#
        + #""created_at":"2026-09-21T14:13:20Z","ext_pan_id":"0101010101010101","#
        + #""modified_at":"2026-09-21T14:13:20Z","network_name":"net1","pan_id":4660}]},"# + #""status":"ok","v":1}"#)
    #expect(!list.text.contains(hex))
  }

  @Test("On the socket a list holds secrets, and names what cannot be opened") func localList() throws {
    for number: UInt64 in [1, 2] {
      let stored = try scene.answered(.storeCredentials, as: 1_000) {
        ($0.agent, $0.dataset) = (.number(number), .of(1, channel: 10 + UInt8(number)))
      }
      #expect(stored.data?.change == .stored)
    }
    scene.damage(.of(1, channel: 12))
    let list = try scene.answered(.listCredentials, as: 1_000).data
    #expect(list?.credentials?.map(\.dataset) == [.of(1, channel: 11)])
    #expect(list?.damaged == ["0000000000000002"])
    let one = try scene.answered(.getCredentials, as: 1_000) { $0.agent = .number(2) }
    #expect(one.error?.known == .damagedCredentials)
  }

  @Test("Of several networks that a person has agreed to, those that open are given") func nearbyDamage() throws {
    for number in [1, 2] { try scene.kit.receive(.announce(number, .of(UInt8(number)), user: "hub")) }
    func given() throws -> AnswerData {
      #expect(try scene.ask("networks/nearby", #"{"transaction":"r"}"#) == nil)
      try scene.approve()
      return try scene.unsealed(scene.published().first)
    }
    scene.damage(.of(2), with: .of(7))
    var data = try given()
    #expect(data.credentials?.count == 1 && data.damaged == nil)
    scene.damage(.of(7))
    data = try given()
    #expect(data.credentials?.count == 1 && data.damaged == ["a000000000000002"])
    scene.damage(.of(1))
    #expect(try scene.ask("networks/nearby") == nil)
    try scene.approve()
    #expect(scene.published().first?.failure?.known == .damagedCredentials)
  }

  @Test("No answer holds a secret in plaintext, whatever is asked", arguments: RequestCommand.allCases) func secrecy(
    _ command: RequestCommand
  ) throws {
    _ = try store()
    let secret = String(repeating: "41", count: 16)
    let hex = OperationalDataset.of(2, key: 1).hex
    let named = #""border_agent_id":"\#(Self.stored)""#
    for json in [
      "{}", "{\(named)}", #"{\#(named),"dataset":"\#(hex)"}"#, #"{"dataset":"\#(hex)x"}"#,
      #"{"ext_pan_id":"0101010101010101"}"#, #"{"ext_pan_id":"\#(hex)"}"#, #"{"id":"\#(hex)"}"#,
      #"{"network_name":"\#(hex)"}"#,
    ] {
      for user: ExactName in ["hub", "phone", "poor"] {
        let published = try scene.ask(command.rawValue, json, from: user)
        #expect(published?.text.contains(secret) != true, "\(json) of \(user.text)")
      }
    }
    if !scene.home.questions.isEmpty { try scene.approve() }
    for published in scene.published() { #expect(!published.text.contains(secret)) }
  }

  @Test("An answer that no client takes is too large") func tooLargeForClients() throws {
    func published(_ bytes: Int) -> ThreadAnswer? {
      var data = AnswerData()
      data.routers = [.text(String(repeating: "x", count: bytes))]
      let answer = SealedExchange(nil).message(
        .success(data), to: Requester(.login("phone"), team: "phone"),
        at: .topic("t", correlation: nil, transaction: "r-1"), in: scene.home, now: scene.now)
      #expect((answer?.refusal != nil) == (bytes > 63_000))
      return answer?.message.publication.answer
    }
    #expect(published(63_000)?.status == .ok)
    let refused = published(63_488)
    #expect(refused?.error?.known == .tooLarge && refused?.transaction == "r-1")
  }

  @Test("An answer that no envelope can hold is too large") func tooLarge() throws {
    for number in 1...20 { try scene.kit.receive(.announce(number, user: "hub")) }
    #expect(try scene.ask("networks/nearby")?.failure == .tooLargeToSeal)
    #expect(scene.home.questions.isEmpty)
    for number in 15...20 { try scene.kit.receive(.message("leave", number, user: "hub")) }
    #expect(try scene.ask("networks/nearby") == nil)
    try scene.approve()
    #expect(try scene.unsealed(scene.published().first).credentials?.count == 14)
  }

  // MARK: Consent

  @Test("A person is asked, and the answer goes where it was asked for, sealed") func consent() throws {
    let hex = try store()
    var message = RequestScene.message("preferred/get", #"{"transaction":"r-1"}"#)
    message.responseTopic = "tk/home/out/phone/response/9"
    message.correlationData = [9]
    #expect(try scene.receive(message) == nil)

    let pending = try scene.ask("consent/pending")?.answer?.data?.pending
    #expect(pending?.map(\.command) == ["preferred/get"])
    #expect(pending?.first?.transactions == ["r-1"])
    #expect(pending?.first?.expiresAt == "2026-09-21T14:15:20Z")
    #expect(pending?.first?.reason == nil)

    try scene.approve()
    let published = try #require(scene.published().first)
    #expect(published.topic == "tk/home/out/phone/response/9")
    #expect(published.correlationData == [9] && published.messageExpiry == 30)
    #expect(published.answer?.transaction == "r-1")
    #expect(try scene.unsealed(published).credentials?.first?.dataset?.hex == hex)
  }

  @Test("With always the next answer comes at once") func always() throws {
    _ = try store()
    #expect(try scene.ask("preferred/get") == nil)
    try scene.approve(nil, .always)
    #expect(scene.published().count == 1)
    #expect(try scene.ask("preferred/get")?.answer?.data?.sealed != nil)
  }

  @Test("An administrator reads why; others do not") func reasons() throws {
    _ = try store()
    _ = try scene.waits(.getPreferred)
    func reason(_ isAdministrator: Bool) throws -> String? {
      try scene.answered(.pendingConsents, isAdministrator: isAdministrator).data?.pending?.first?.reason
    }
    #expect(try reason(true)?.contains("\"net1\"") == true)
    #expect(try reason(false) == nil)
  }

  // MARK: The home

  @Test("A command names its home, a decision is about the home of its question") func homes() throws {
    _ = try store()
    #expect(try scene.ask("preferred/get") == nil)
    let question = try #require(scene.home.questions.first)
    let all = ["attic": Home(rules: HomeRules { 0 }), "home": scene.home]
    func home(_ command: RequestCommand, named: String? = nil) throws -> String {
      var request = ThreadRequest(command)
      request.home = named
      request.id = question.id.questionText
      return try LocalRequest(request, user: 0, team: "root").home(of: ["attic", "home"]) { all[$0] }
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

extension Result { fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } } }
