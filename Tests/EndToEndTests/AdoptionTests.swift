// SPDX-License-Identifier: Apache-2.0

import Foundation
import MosquittoClient
import SealedEnvelope
import TestKit
import Testing

/// The whole way: a router is on another network, a person is asked, the router is sent the preferred
/// credentials under seal and says under seal that it uses them.
@Suite("A router is given the preferred network's credentials", .inTurns, .timeLimit(.minutes(30)))
struct AdoptionTests {
  private let broker: TestBroker
  private let keeper: Installation
  private let home: ThreadNetwork
  private let guest: ThreadNetwork
  private static let topic = "threadkeeper/out/router/dataset/set"

  init() throws {
    broker = try TestBroker()
    keeper = try Installation(
      broker, hold: 1, more: "preferred:\n  on_mismatch: adopt\n  adopt_timeout: 300\n")
    home = try ThreadNetwork("home-thread")
    guest = try ThreadNetwork("guest-thread")
  }

  /// A login with keys, and one router that it speaks for.
  private struct Speaker: Sendable {
    let user: String
    let agent: String
    let identity: Identity

    func says(_ kind: String, _ dataset: String?, to line: String) throws -> Publication {
      let topic = "threadkeeper/in/\(user)/\(kind)"
      let more = dataset.map { #","name":"Living room","dataset":"\#($0)""# } ?? ""
      let envelope = try Envelope.seal(
        Array(#"{"border_agent_id":"\#(agent)"\#(more)}"#.utf8), to: try PublicIdentity(line: line),
        from: identity,
        at: .init(
          topic: topic, order: .sequence(UInt64(Date().timeIntervalSince1970 * 1_000_000)),
          now: Int64(Date().timeIntervalSince1970)))
      return Publication(
        topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array("}".utf8))
    }

    var state: String { "threadkeeper/router/\(agent)" }
  }

  private struct Scene {
    let audience: Audience
    let publisher: TestPublisher
    let line: String
    let router: Speaker
  }

  /// The home's network is preferred, and the router is on it or on the other one.
  private func scene(isEnrolled: Bool = true) async throws -> (Scene, DaemonProcess) {
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let daemon = try await keeper.start()
    let line = try #require(try await keeper.json("clients", "fingerprint")["line"]?.text)
    let hub = Speaker(user: "hub", agent: "a1b2c3d4e5f60701", identity: try Identity())
    let router = Speaker(user: "router", agent: "a1b2c3d4e5f60702", identity: try Identity())
    try await enroll(hub)
    let scene = Scene(audience: audience, publisher: publisher, line: line, router: router)
    try await publisher.publish([hub.says("announce", home.hex(), to: line)])
    try await audience.until("the preferred network") {
      $0.state(hub.state)?["preferred"] == "match"
    }
    if isEnrolled {
      Recorder.current?.allPublishersAreEnrolled()
      try await enroll(router)
      try await publisher.publish([router.says("announce", guest.hex(), to: line)])
    } else {
      try await publisher.publish([
        BorderRouter(router.agent, user: "router").announces(try guest.hex())
      ])
    }
    return (scene, daemon)
  }

  /// For the keeper that is started next.
  private func setTimeout(_ seconds: Int) throws {
    let settings = try String(contentsOfFile: keeper.configuration, encoding: .utf8)
    let line = try #require(settings.firstRange(of: /adopt_timeout: [0-9]+/))
    try Data(settings.replacingCharacters(in: line, with: "adopt_timeout: \(seconds)").utf8)
      .write(to: URL(fileURLWithPath: keeper.configuration))
  }

  private func enroll(_ speaker: Speaker) async throws {
    let outcome = try await keeper.command(
      "clients", "enroll", speaker.user, speaker.identity.keys.line)
    #expect(outcome.status == 0, "\(outcome.error)")
  }

  /// The one request that waits.
  private func waiting() async throws -> JSON {
    try await eventually("a request that waits") {
      try await keeper.json("consent", "list")["pending"]?.list.count == 1
    }
    return try #require(try await keeper.json("consent", "list")["pending"]?.list.first)
  }

  private func approve(_ more: String...) async throws {
    let id = try #require(try await waiting()["id"]?.text)
    let arguments = ["consent", "approve", id] + more + ["--config", keeper.configuration]
    let outcome = try await ThreadkeeperBinary.run(arguments, environment: keeper.environment)
    #expect(outcome.status == 0, "\(outcome.error)")
  }

  private func messages(_ heard: Audience.Heard) -> [IncomingMessage] {
    heard.messages.filter { $0.topic == Self.topic }
  }

  /// The bodies of what the router was sent.
  private func opened(_ scene: Scene) throws -> [JSON] {
    let keys = try PublicIdentity(line: scene.line)
    return try scene.audience.look(messages).map { message in
      let payload = try #require(
        try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
      let opened = try Envelope.open(
        Array(JSONSerialization.data(withJSONObject: try #require(payload["sealed"]))),
        with: scene.router.identity, from: [keys], topic: Self.topic,
        now: Int64(Date().timeIntervalSince1970))
      return try #require(JSON(String(decoding: opened.body, as: UTF8.self)))
    }
  }

  private func failed(_ reason: String, _ scene: Scene) async throws -> JSON {
    try await scene.audience.until("the alert \(reason)") {
      $0.alerts("alert_raised", "AdoptionFailed").last?["reason"]?.text == reason
    }
    return try #require(
      scene.audience.look { $0.alerts("alert_raised", "AdoptionFailed").last })
  }

  @Test(
    "Asked, agreed, killed, sent, killed, said: the mismatch is over, and nobody has seen a key")
  func adopted() async throws {
    let (scene, first) = try await scene()
    let audience = scene.audience
    let question = try await waiting()
    #expect(question["command"] == "dataset/set" && question["requester"] == "mqtt user router")
    let words =
      "Living room (\(scene.router.agent)) is on guest-thread; give it the credentials of home"
    #expect(question["reason"]?.text?.hasPrefix(words) == true)
    try await audience.until("the question") {
      $0.state(scene.router.state)?["adoption"] == "asked"
        && $0.events("consent_requested").first?["message"]?.text?.hasPrefix(words) == true
        && $0.state("threadkeeper/bridge/consent")?["border_agent_id"]?.text == scene.router.agent
    }
    #expect(first.log.contains(words))
    #expect(audience.look(messages).isEmpty)
    try await approve()
    try await first.kill9()

    let second = try await keeper.start()
    try await audience.until("the message") {
      !messages($0).isEmpty && $0.state(scene.router.state)?["adoption"] == "sent"
    }
    let sent = audience.look(messages).count
    #expect(try await keeper.dataset(of: scene.router.agent) == guest.hex())
    try await second.kill9()
    let third = try await keeper.start()
    try await audience.until("the message again") { messages($0).count > sent }
    let bodies = try opened(scene)
    #expect(Set(bodies.compactMap { $0["id"]?.text }).count == 1)
    #expect(bodies.allSatisfy { $0["border_agent_id"]?.text == scene.router.agent })
    for body in bodies { #expect(body["dataset"]?.text == (try home.hex())) }
    #expect(
      audience.look(messages).allSatisfy {
        (1...300).contains($0.messageExpiry ?? 0) && $0.qos == 1
      }
    )
    // Who comes later finds the states, and no message.
    let late = try await Audience.start(broker)
    try await late.caughtUp()
    #expect(late.state(scene.router.state) != nil && late.look(messages).isEmpty)
    #expect(audience.look { $0.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty })
    #expect(audience.state(scene.router.state)?["network_name"] == "guest-thread")

    try await scene.publisher.publish([
      scene.router.says("dataset", home.hex(), to: scene.line)
    ])
    try await audience.until("the end of the mismatch") {
      !$0.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty
        && $0.state(scene.router.state)?["preferred"] == "match"
        && $0.state(scene.router.state)?["adoption"] == nil
    }
    #expect(audience.look { $0.alerts("alert_raised", "AdoptionFailed").isEmpty })
    // What was not acknowledged before a kill may be published twice.
    #expect(
      audience.look { Set($0.events("consent_requested").compactMap { $0["id"]?.text }) }.count == 1
    )

    var needles = Needles()
    for network in [home, guest] {
      needles.add("the network key of \(network.name)", network.networkKey)
      needles.add("the PSKc of \(network.name)", network.pskc)
    }
    for daemon in [first, second, third] { #expect(needles.found(in: daemon.log).isEmpty) }
    let audit = try await keeper.command("audit").output
    #expect(audit.contains("credentials_given dataset/set home-thread"))
    #expect(needles.found(in: audit).isEmpty)
    #expect(try await third.stop() == .exit(0))
    #expect(try needles.found(below: keeper.storePath).finds == [])
    #expect(try keeper.verify().matchesManifest)
  }

  @Test("Who is not enrolled is named; enrolled and denied, that is said, and nothing was sent")
  func refused() async throws {
    let (scene, daemon) = try await scene(isEnrolled: false)
    let unknown = try await failed("not_enrolled", scene)
    #expect(unknown["remedy"]?.text?.contains("clients enroll router") == true)
    #expect(unknown["router_name"] == nil && unknown["router"]?.text == scene.router.agent)
    #expect(try await keeper.json("consent", "list")["pending"] == [])
    try await enroll(scene.router)
    let first = try #require(try await waiting()["id"]?.text)
    try await scene.audience.until("the alert's end") {
      !$0.alerts("alert_resolved", "AdoptionFailed").isEmpty
    }
    // Another key: that question ends, and a person is asked about the new one.
    let other = Speaker(user: "router", agent: scene.router.agent, identity: try Identity())
    try await enroll(other)
    try await eventually("another question") {
      let list = try await keeper.json("consent", "list")["pending"]?.list
      return list?.count == 1 && list?.first?["id"]?.text != first
    }
    let id = try #require(try await waiting()["id"]?.text)
    #expect(try await keeper.command("consent", "deny", id).status == 0)
    _ = try await failed("denied", scene)
    try await scene.audience.until("the state") {
      $0.state(scene.router.state)?["adoption"] == "failed"
    }
    #expect(try await keeper.dataset(of: scene.router.agent) == guest.hex())
    #expect(scene.audience.look(messages).isEmpty)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "Of a router that does not answer, what it said before stays; of one that says something else, that"
  )
  func unanswered() async throws {
    try setTimeout(20)
    let (scene, first) = try await scene()
    try await approve()
    let late = try await failed("timeout", scene)
    #expect(late["remedy"]?.text?.contains("out/router/dataset/set") == true)
    #expect(try await keeper.dataset(of: scene.router.agent) == guest.hex())
    #expect(try await first.stop() == .exit(0))
    // What follows must not run into it, however busy the machine is.
    try setTimeout(300)
    let daemon = try await keeper.start()
    let sent = scene.audience.look(messages).count
    // It ends, and comes back: a person is asked anew.
    try await scene.publisher.publish([
      scene.router.says("leave", nil, to: scene.line),
      scene.router.says("announce", guest.hex(), to: scene.line),
    ])
    try await approve()
    try await scene.audience.until("the message") { messages($0).count > sent }
    let third = try ThreadNetwork("third-thread")
    try await scene.publisher.publish([
      scene.router.says("dataset", third.hex(), to: scene.line)
    ])
    _ = try await failed("disagreement", scene)
    #expect(try await keeper.dataset(of: scene.router.agent) == third.hex())
    #expect(try await keeper.json("consent", "list")["pending"] == [])
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("`always` sends without a question; the example's script has its router use it and says so")
  func script() async throws {
    let (scene, daemon) = try await scene()
    try await approve("--always")
    try await scene.audience.until("the message") { !messages($0).isEmpty }
    // From here on the script speaks for the login, with a router and a key of its own.
    let key = keeper.directory.file("router.key")
    let made = try await keeper.clientKeygen(key)
    try await scene.publisher.publish([
      scene.router.says("dataset", home.hex(), to: scene.line)
    ])
    try await scene.audience.until("the first router") {
      $0.state(scene.router.state)?["preferred"] == "match"
    }
    #expect(try await keeper.command("clients", "enroll", "script", made).status == 0)
    let agent = "a1b2c3d4e5f60703"
    let active = keeper.directory.file("active")
    try Data("\(guest.hex())\n".utf8).write(to: URL(fileURLWithPath: active))
    let sealed = try await Program.example(
      "announce.sh", ["announce", agent, "Attic"], input: try guest.hex() + "\n",
      variables(scene, key: key))
    #expect(sealed.status == 0, "\(sealed.output)")
    try listen(as: agent)
    async let adopting = Program.example(
      "adopt.sh", ["--once", agent, "cat > '\(active)'", "cat '\(active)'"],
      variables(scene, key: key))
    try await approve("--always")
    let done = try await adopting
    #expect(done.status == 0, "\(done.output)")
    try await scene.audience.until("the script's router") {
      $0.state("threadkeeper/router/\(agent)")?["preferred"] == "match"
    }
    // Another one of the same login: nobody is asked.
    let questions = scene.audience.look { $0.events("consent_requested").count }
    let next = "a1b2c3d4e5f60704"
    try listen(as: next)
    try Data("\(guest.hex())\n".utf8).write(to: URL(fileURLWithPath: active))
    _ = try await Program.example(
      "announce.sh", ["announce", next], input: try guest.hex() + "\n", variables(scene, key: key))
    let again = try await Program.example(
      // Its long form is the same id.
      "adopt.sh", ["--once", next + "0000000000000000", "cat > '\(active)'", "cat '\(active)'"],
      variables(scene, key: key))
    #expect(again.status == 0, "\(again.output)")
    try await scene.audience.until("the next router") {
      $0.state("threadkeeper/router/\(next)")?["preferred"] == "match"
    }
    #expect(scene.audience.look { $0.events("consent_requested").count } == questions)
    for wrong in [[], ["--once", agent], ["zz", "a", "b"]] {
      let outcome = try await Program.example("adopt.sh", wrong, variables(scene, key: key))
      #expect([64, 65].contains(outcome.status))
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  /// Begins the session in which the broker keeps what comes before the script has started.
  private func listen(as agent: String) throws {
    try Program.check(
      "mosquitto_sub",
      [
        "-V", "mqttv5", "-h", "127.0.0.1", "-p", "\(broker.port)", "-u", "script", "-q", "1", "-c",
        "-x", "3600", "-i", "script-adopt-\(agent)", "-t", "threadkeeper/out/script/dataset/set",
        "-E",
      ])
  }

  private func variables(_ scene: Scene, key: String) -> [String: String] {
    [
      "HOME": keeper.directory.path, "CLIENT_KEY": key, "KEEPER_LINE": scene.line,
      "MQTT_USERNAME": "script", "MQTT_HOST": "127.0.0.1", "MQTT_PORT": "\(broker.port)",
    ]
  }
}

extension Program {
  /// Runs a script of the example while the test does something else.
  fileprivate static func example(
    _ name: String, _ arguments: [String], input: String = "", _ variables: [String: String]
  ) async throws -> Result {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../examples/sealed-router/\(name)").standardized.path
    let tools = ThreadkeeperBinary.executable.deletingLastPathComponent().path
    let environment = ["PATH": "\(tools):/usr/bin:/bin"].merging(variables) { $1 }
    return try await withCheckedThrowingContinuation { continuation in
      Thread {
        continuation.resume(
          with: Swift.Result {
            try run(
              "/bin/sh", [script] + arguments, input: Array(input.utf8), environment: environment)
          })
      }.start()
    }
  }
}
