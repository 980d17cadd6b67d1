import Broker
import Foundation
import Synchronization
import TestKit
import Testing

/// The recorder that every test here has must be able to find something.
@Suite("The recorder", .inTurns, .timeLimit(.minutes(30))) struct RecorderTests {
  private static let key = NeedlesTests.key

  @Test(
    "What is published on any broker of a test is found; what routers say only where all are enrolled",
    arguments: [false, true]) func broker(hasLogins: Bool) async throws
  {
    // A recorder beside the test's own one, which must not hear of it.
    let recorder = Recorder()
    defer { recorder.end() }
    try await recorder.observe {
      let broker = try TestBroker(logins: hasLogins ? [.init("keeper", role: .daemon), .init("anna")] : [])
      let home = try ThreadNetwork("home")
      try await recorder.ready()
      let publisher = try await TestPublisher.start(broker, user: hasLogins ? "keeper" : nil)
      let said = BorderRouter(number: 1).announces(try home.hex())
      try await publisher.publish([Publication(topic: "threadkeeper/bridge/state", payload: Array("{}".utf8)), said])
      try await eventually("what routers say") { recorder.messages.count == 2 }
      #expect(recorder.finds().isEmpty)
      recorder.allPublishersAreEnrolled()
      #expect(recorder.finds().map(\.topic) == [said.topic])

      let planted = Publication(
        topic: "threadkeeper/out/anna/mine", payload: [],
        correlationData: Array(Data(home.networkKey).base64EncodedString().utf8))
      try await publisher.publish([
        Publication(topic: "threadkeeper/bridge/event", payload: Array(try home.hex().utf8)), planted,
      ])
      try await eventually("what was planted") { recorder.messages.count == 4 }
      #expect(Set(recorder.finds().map(\.topic)) == [said.topic, "threadkeeper/bridge/event", planted.topic])
    }
  }

  @Test("The kit notes the networks, the store's key and the daemon's password of a test") func noted() async throws {
    let recorder = Recorder()
    defer { recorder.end() }
    try await recorder.observe {
      let broker = try TestBroker(logins: [.init("keeper", role: .daemon)])
      let password = try #require(broker.broker.password(of: "keeper"))
      let installation = try Installation(broker, mqtt: ["username: keeper", "password: \(password)"])
      let daemon = try await installation.start()
      let key = try String(contentsOfFile: installation.directory.file("store.key"), encoding: .utf8)
      let publisher = try await TestPublisher.start(broker, user: "keeper")
      try await publisher.publish(
        [password, key.uppercased()].enumerated().map {
          Publication(topic: "threadkeeper/planted/\($0)", payload: Array($1.utf8))
        })
      try await eventually("what was planted") { recorder.messages.count { $0.topic.contains("planted") } == 2 }
      #expect(Set(recorder.finds().map(\.topic)) == ["threadkeeper/planted/0", "threadkeeper/planted/1"])
      #expect(recorder.messages.contains { $0.topic == "threadkeeper/bridge/state" })
      #expect(try await daemon.stop() == .exit(0))
    }
  }

  /// Something large before the key, so that all of it takes a while.
  private func publish(_ key: [UInt8], last: String, on broker: TestBroker) async throws {
    let publisher = try await TestPublisher.start(broker)
    let noise = (0..<30).map {
      Publication(topic: "threadkeeper/noise/\($0)", payload: [UInt8](repeating: 7, count: 65_536))
    }
    // It is more than the system keeps on its way.
    try await publisher.publish(noise + [Publication(topic: last, payload: key)])
  }

  @Test("What is published as the very last thing of a test is found, on a broker that the test lets go")
  func lastThing() async throws {
    let isOver = Mutex(false)
    let recorder = Recorder(beforeHearing: { while !isOver.withLock({ $0 }) { usleep(20_000) } })
    defer { recorder.end() }
    recorder.note("key", Self.key)
    try await recorder.observe {
      let broker = try TestBroker()
      try await recorder.ready()
      try await publish(Self.key, last: "threadkeeper/last", on: broker)
    }
    #expect(recorder.messages.isEmpty)
    isOver.withLock { $0 = true }
    #expect(await recorder.hearOut() == [])
    #expect(recorder.finds().map(\.topic) == ["threadkeeper/last"])
    #expect(!recorder.messages.contains { $0.topic.contains("recorder") })
  }

  @Test("A recorder that has never been let in says so, and so does one that waits in vain") func deaf() async throws {
    let recorder = Recorder()
    defer { recorder.end() }
    let directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(atPath: directory.file("broker"), withIntermediateDirectories: true)
    let port = try UnusedPort.next()
    for (file, text) in [("logins", "threadkeeper\tsesame-open\n"), ("port", "\(port)\n")] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file("broker/\(file)")))
    }
    recorder.listen(toBrokerIn: directory.path)
    #expect(await recorder.hearOut() == ["the broker on port \(port) was never listened to"])

    let other = Recorder()
    defer { other.end() }
    try await other.observe {
      let broker = try PasswordBroker("keeper", "sesame-open")
      try await other.ready()
      try broker.pause()
      let trouble = await other.hearOut(within: .milliseconds(100))
      try broker.resume()
      #expect(trouble.count == 1)
      #expect(await other.hearOut() == [])
    }
  }
}

@Suite("The search for secrets") struct NeedlesTests {
  static let key: [UInt8] = [
    0xFB, 0xEF, 0xBE, 0x00, 0x5C, 0x1F, 0xB2, 0x54, 0x3E, 0xA9, 0x71, 0xD6, 0xFF, 0xFB, 0x45, 0x9C,
  ]

  /// The key in the middle of something else, in one of the ways to write bytes.
  enum Form: Sendable, CaseIterable {
    case raw, hex, upperHex, mixedHex, base64, webBase64, escapedBase64

    func text(_ bytes: [UInt8]) -> Data {
      let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      let base64 = Data(bytes).base64EncodedString()
      return switch self {
      case .raw: Data(bytes)
      case .hex: Data(hex.utf8)
      case .upperHex: Data(hex.uppercased().utf8)
      case .mixedHex: Data(String(hex.enumerated().map { $0 % 3 == 0 ? Character($1.uppercased()) : $1 }).utf8)
      case .base64: Data(base64.utf8)
      case .webBase64: Data(base64.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }.map(String.init).joined().utf8)
      case .escapedBase64: Data(base64.replacingOccurrences(of: "/", with: "\\/").utf8)
      }
    }
  }

  @Test(
    "A key is found in every encoding, wherever it begins, and so is each half of it in bytes and hex",
    arguments: Form.allCases) func encodings(_ form: Form)
  {
    var needles = Needles()
    needles.note("key", Self.key)
    var generator = SeededGenerator(seed: 7)
    for shift in 0..<7 {
      let noise = (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let planted = noise.prefix(shift) + Self.key + noise.suffix(9)
      let texts = [form.text(noise), form.text(Array(planted)), form.text(noise)]
      #expect(needles.found(inAll: texts).map(\.place) == [1], "\(form) at \(shift)")
    }
    guard [.raw, .hex, .upperHex, .mixedHex].contains(form) else { return }
    for half in [Self.key.prefix(8), Self.key.suffix(8)] {
      #expect(needles.found(inAll: [form.text(Array(half))]).count == 1)
    }
  }

  @Test("A password is found as it is, and encoded", arguments: Form.allCases) func password(_ form: Form) {
    var needles = Needles()
    needles.note("password", "Sesame-9c1d-right")
    let text = form.text(Array(#"{"password":"Sesame-9c1d-right"}"#.utf8))
    #expect(needles.found(inAll: [Data("Sesame".utf8), text]).map(\.place) == [1])
  }

  @Test("What stands in documentation, and what is noted twice, is no needle of its own") func noNeedles() {
    var needles = Needles()
    needles.note("zeros", [UInt8](repeating: 0, count: 16))
    needles.note("documented", Array(stride(from: 0, to: 256, by: 17)).map(UInt8.init))
    needles.note("short", "home")
    #expect(needles.all.isEmpty)
    needles.note("key", Self.key)
    let count = needles.all.count
    needles.note("the same", Self.key)
    #expect(count > 0 && needles.all.count == count)
  }
}

/// The check that every test with a broker ends with must be able to find something.
@Suite("The check of messages", .enabled(if: DebianTool.jsonSchema != nil), .timeLimit(.minutes(30)))
struct MessageCheckTests {
  private let check: MessageCheck

  init() throws {
    check = MessageCheck(document: try AsyncAPIDocument.shared.get(), library: try #require(SchemaLibrary.shared))
  }

  private func complaints(_ messages: (topic: String, payload: String)...) throws -> [String] {
    let home = IncomingMessage(topic: "house/bridge/state", payload: Array(#"{"state":"online"}"#.utf8))
    return try check.complaints(
      about: [home] + messages.map { IncomingMessage(topic: $0.topic, payload: Array($0.payload.utf8)) })
  }

  @Test("What the daemon publishes is checked for its topic, its fields and its QoS, without values") func published()
    throws
  {
    let key = "00112233445566778899aabbccddeeff"
    let availability = "house/router/a1b2c3d4e5f60718/availability"
    #expect(try complaints((availability, #"{"state":"online"}"#), (availability, "")).isEmpty)
    let wrong = try complaints(
      (availability, #"{"state":"\#(key)"}"#), (availability, #"{"state":"online","key":"\#(key)"}"#),
      (availability, "\(key)"), ("house/bridge/state/\(key)", "{}"), ("house/bridge/event", ""),
      ("homeassistant/device/threadkeeper/threadkeeper_house/config", "{}"), ("elsewhere/bridge/event", "x"))
    #expect(
      wrong == [
        "house/bridge/state/\(key) is no topic of docs/reference/asyncapi.yaml",
        "\(availability): /state must be one of ['online', 'offline']",
        "\(availability): the payload must not contain {'key'} properties", "\(availability): the payload is no JSON",
        "house/bridge/event: the payload is no JSON",
        "homeassistant/device/threadkeeper/threadkeeper_house/config: the payload has no availability, "
          + "availability_mode, components, device, origin, qos",
      ])
    let quick = IncomingMessage(topic: "house/bridge/state", payload: Array(#"{"state":"online"}"#.utf8), qos: 0)
    #expect(try check.complaints(about: [quick]) == ["house/bridge/state has QoS 0, not 1"])
  }

  @Test("An event that its schema does not allow has to be refused, as often as it came") func events() throws {
    let topic = "house/in/anna/announce"
    let refusal = (
      topic: "house/bridge/event",
      payload: #"{"v":1,"event_type":"message_rejected","time":"2026-11-21T04:36:00Z","user":"anna","#
        + #""topic":"\#(topic)","code":"missing_field","message":"m"}"#
    )
    #expect(try complaints((topic, "{}"), refusal).isEmpty)
    #expect(try complaints((topic, "{}"), (topic, "[]"), refusal, refusal).isEmpty)
    let accepted = try complaints((topic, "{}"), (topic, "[]"), refusal)
    #expect(accepted.count == 1 && accepted[0].hasPrefix("\(topic): the schema does not allow"))
    #expect(try complaints(("house/in/anna/dance", "{}")).count == 1)
    #expect(try complaints((topic, #"{"border_agent_id":"a1b2c3d4e5f60718"}"#)).isEmpty)
  }

  @Test("A request that its schema does not allow has to be answered with an error") func requests() throws {
    let topic = "house/in/anna/request/credentials/get"
    let answer = (
      topic: "house/out/anna/mine",
      payload: #"{"v":1,"status":"error","error":{"code":"invalid_payload","message":"m"},"transaction":"1"}"#
    )
    #expect(try complaints((topic, "{}"), answer).isEmpty)
    #expect(try complaints((topic, "{}")).count == 1)
    #expect(try complaints((topic, "{}"), (answer.topic, #"{"v":1,"status":"ok","data":{}}"#)).count == 1)
  }
}
