import Broker
import Foundation
import Synchronization
import TestKit
import Testing
import ThreadRequests

/// Requests to a real daemon over a real broker with an access list.
@Suite("Requests over MQTT", .inTurns, .timeLimit(.minutes(30))) struct RequestTests {
  /// A client with a login of its own that asks and hears its answers.
  private final class Asker: Sendable {
    let user: String
    let publisher: TestPublisher
    let subscriber: TestSubscriber

    init(_ broker: TestBroker, _ user: String) async throws {
      self.user = user
      publisher = try await TestPublisher.start(broker, user: user)
      subscriber = try await TestSubscriber.start(broker, user: user, "threadkeeper/out/\(user)/#")
    }

    /// Asks and waits for the answer, which is found by its transaction.
    func ask(_ command: String, _ fields: [String: String] = [:], change: (inout Publication) -> Void = { _ in })
      async throws -> (message: IncomingMessage, answer: ThreadAnswer)
    {
      let transaction = "t-\(UInt64.random(in: 0 ... .max))"
      try await request(command, fields.merging(["transaction": transaction]) { $1 }, change: change)
      func found(_ messages: [IncomingMessage]) -> (IncomingMessage, ThreadAnswer)? {
        for message in messages {
          if let answer = ThreadAnswer(json: message.payload), answer.transaction == transaction {
            return (message, answer)
          }
        }
        return nil
      }
      let messages = try await subscriber.wait { found($0) != nil }
      return try #require(found(messages))
    }

    func request(_ command: String, _ fields: [String: String], change: (inout Publication) -> Void = { _ in })
      async throws
    {
      var publication = Publication(
        topic: "threadkeeper/in/\(user)/request/\(command)",
        payload: Array(try JSONSerialization.data(withJSONObject: fields)))
      change(&publication)
      try await publisher.publish([publication])
    }
  }

  private func scene() async throws -> (RunningHome, anna: Asker, bob: Asker) {
    let running = try await RunningHome(logins: EmbeddedBrokerConfiguration.Login.home + [.init("anna"), .init("bob")])
    let anna = try await Asker(running.broker, "anna")
    return (running, anna, try await Asker(running.broker, "bob"))
  }

  @Test("Stored, listed, preferred, deleted: a life by requests alone") func life() async throws {
    let (running, anna, bob) = try await scene()
    let installation = running.installation
    let home = try ThreadNetwork("home")
    let agent = BorderRouter(number: 1).agent
    #expect(try await anna.ask("ping").answer.data?.version != nil)
    #expect(try await anna.ask("preferred/available").answer.data?.available == false)
    let stored = try await anna.ask("credentials/store", ["border_agent_id": agent, "dataset": try home.hex()])
    #expect(stored.answer.data?.change == .stored && stored.answer.data?.preferred == .match)
    try await running.until("the event, with who did it") { $0.events("dataset_stored").last?["user"] == "anna" }
    #expect(try await installation.dataset(of: agent) == (try home.hex()))
    let list = try await anna.ask("credentials/list").answer
    #expect(list.data?.credentials?.map(\.networkName) == ["home"])
    #expect(list.data?.isSecret == false)
    #expect(try await anna.ask("preferred/check", ["dataset": try home.hex(at: 5)]).answer.data?.result == .match)
    // Another team: nothing of it can be seen or touched.
    #expect(try await bob.ask("credentials/list").answer.data?.credentials == [])
    let evil = ["border_agent_id": agent, "dataset": try ThreadNetwork("evil").hex()]
    for (command, code) in [
      ("credentials/store", "not_authorized"), ("credentials/delete", "not_authorized"),
      ("credentials/get", "not_enrolled"), ("preferred/get", "not_enrolled"), ("networks/nearby", "not_enrolled"),
    ] { #expect(try await bob.ask(command, evil).answer.error?.code == code, "\(command)") }
    #expect(try await installation.dataset(of: agent) == (try home.hex()))
    #expect(try await anna.ask("credentials/delete", ["border_agent_id": agent]).answer.data?.deleted == true)
    #expect(try await installation.command("credentials", "get", agent).status == 66)
    #expect(try await anna.ask("preferred/available").answer.data?.available == true)
    try await running.stop()
    #expect(try installation.verify().matchesManifest)
  }

  @Test("Response Topic, Correlation Data and expiry, as the broker carries them; too many requests") func properties()
    async throws
  {
    let (running, anna, bob) = try await scene()
    let own = try await anna.ask("ping") {
      $0.responseTopic = "threadkeeper/out/anna/mine/1"
      $0.correlationData = [0, 1, 0xFF]
      $0.messageExpiry = 20
    }
    #expect(own.message.topic == "threadkeeper/out/anna/mine/1")
    #expect(own.message.correlationData == [0, 1, 0xFF])
    #expect(own.message.messageExpiry.map { (1...20).contains($0) } == true)
    #expect(!own.message.isRetained)
    for foreign in ["threadkeeper/out/bob/mine", "threadkeeper/bridge/state", "elsewhere/anna"] {
      let answered = try await anna.ask("ping") { $0.responseTopic = foreign }
      #expect(answered.message.topic == "threadkeeper/out/anna/response/ping")
    }
    #expect(bob.subscriber.messages.isEmpty)
    // A retained request acts neither now nor with the next start.
    try await anna.request(
      "credentials/store", ["border_agent_id": BorderRouter(number: 1).agent, "dataset": try ThreadNetwork("x").hex()]
    ) { $0.retain = true }
    try await running.until("the rejection") { $0.events("message_rejected").last?["code"] == "retained" }
    #expect(try await anna.ask("credentials/list").answer.data?.credentials == [])

    // Who asks too often is refused, and others are not.
    try await anna.publisher.publish(
      (0..<150).map { number in
        Publication(
          topic: "threadkeeper/in/anna/request/ping", payload: Array("{\"transaction\":\"flood-\(number)\"}".utf8))
      })
    try await anna.subscriber.wait { $0.contains { ThreadAnswer(json: $0.payload)?.error?.known == .rateLimited } }
    #expect(try await bob.ask("ping").answer.status == .ok)
    try await running.stop()
  }
}

@Suite("client request, with a daemon played by the test", .inTurns, .timeLimit(.minutes(30))) struct ClientRequestTests
{
  private let broker: TestBroker
  private let directory: TemporaryDirectory
  private let daemon: Identity

  init() throws {
    broker = try TestBroker()
    directory = try TemporaryDirectory()
    daemon = try Identity()
  }

  /// Answers every request by what the test makes of it, for as long as the client lives.
  private func answer(_ answers: @escaping @Sendable (IncomingMessage) throws -> [Publication]) async throws
    -> TestClient
  {
    let publisher = try await TestPublisher.start(broker)
    let client = TestClient(broker.configuration(clientID: "keeper", "threadkeeper/in/+/request/#")) { batch in
      for message in batch {
        let publications = try answers(message)
        Task { try await publisher.publish(publications) }
      }
    }
    try await client.ready()
    return client
  }

  private func publication(_ text: String, answering request: IncomingMessage, correlation: [UInt8]? = nil)
    -> Publication
  {
    Publication(
      topic: request.responseTopic ?? "", payload: Array(text.utf8),
      correlationData: correlation ?? request.correlationData)
  }

  private func request(_ command: String, _ more: [String] = [], input: String = "", seconds: Int = 20) async throws
    -> ThreadkeeperBinary.Outcome
  {
    try await ThreadkeeperBinary.run(
      [
        "client", "request", command, "--username", "phone", "--host", "127.0.0.1", "--port", "\(broker.port)",
        "--timeout", "\(seconds)",
      ] + more, input: .text(input), environment: ["HOME": directory.path])
  }

  @Test("A sealed request arrives, its sealed answer is opened, and neither can be read on the way") func sealed()
    async throws
  {
    let key = directory.file("phone.key")
    let made = try await ThreadkeeperBinary.run("client", "keygen", "--out", key, "--json")
    let line = try #require(JSON(made.output)?["line"]?.text)
    let audience = try await Audience.start(broker)
    let opened = Mutex<[JSON]>([])
    let answering = try await answer { [daemon] request in
      let body = try daemon.opens(request, from: line)
      opened.withLock { $0.append(body) }
      let transaction = String(decoding: request.correlationData ?? [], as: UTF8.self)
      let data = try daemon.seals(
        #"{"dataset":"0e08abcdef"}"#, to: line, at: "threadkeeper/out/phone/response/preferred/get",
        id: body["home"] == "attic" ? "another" : transaction)
      return [
        // To somebody else of this login, and a forgery.
        self.publication(#"{"v":1,"status":"ok","data":{}}"#, answering: request, correlation: [1]),
        self.publication(
          #"{"v":1,"status":"ok","data":\#(String(decoding: data.payload, as: UTF8.self))}"#, answering: request),
      ]
    }
    let own = ["--key", key, "--daemon", daemon.keys.line]
    func get(_ more: String..., input: String = "") async throws -> ThreadkeeperBinary.Outcome {
      try await request("preferred/get", own + more, input: input)
    }
    let outcome = try await get("--field", "home=home")
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output == "{\"dataset\":\"0e08abcdef\"}\n")
    let fields = opened.withLock { $0.first }
    #expect(fields?["home"] == "home" && fields?["transaction"] != nil)
    let piped = try await get("--fields", "-", "--json", input: #" {"home":"cabin"} "#)
    #expect(JSON(piped.output)?["sealed"] == true, "\(piped.error)")
    #expect(opened.withLock { $0.last }?["home"] == "cabin")
    let old = try await get("--field", "home=attic")
    #expect(old.status == 65 && old.error.contains("replayed"), "\(old.error)")
    for message in audience.look({ $0.messages }) {
      let text = String(decoding: message.payload, as: UTF8.self)
      #expect(!text.contains("0e08abcdef") && !text.contains("cabin"))
    }
    withExtendedLifetime(answering) {}
  }

  @Test("A secret in plaintext, refusals, nobody there and wrong usage: words and a status") func refusals()
    async throws
  {
    let key = directory.file("phone.key")
    _ = try await ThreadkeeperBinary.run("client", "keygen", "--out", key)
    let answering = try await answer { request in
      let fields = JSON(String(decoding: request.payload, as: UTF8.self))
      guard let code = fields?["code"]?.text else {
        return [self.publication(#"{"v":1,"status":"ok","data":{"dataset":"00"}}"#, answering: request)]
      }
      var refusal = self.publication(
        #"{"v":1,"status":"error","error":{"code":"\#(code)","message":"words"},"#
          + #""transaction":"\#(fields?["transaction"]?.text ?? "")"}"#, answering: request)
      // As a broker of MQTT 3.1.1 would pass it on.
      refusal.correlationData = nil
      return [refusal]
    }
    let own = ["--key", key, "--daemon", daemon.keys.line]
    let forged = try await request("preferred/get", own)
    #expect(forged.status == 65 && forged.error.contains("not_sealed"))
    #expect(forged.output.isEmpty)
    #expect(try await request("ping", own).status == 0)
    for (code, status) in [
      ("consent_denied", 77), ("not_enrolled", 77), ("not_found", 66), ("rate_limited", 75), ("invalid_payload", 65),
      ("unsupported", 69), ("read_only", 74),
    ] as [(String, Int32)] {
      let outcome = try await request("network/get", ["--field", "code=\(code)"])
      #expect(outcome.status == status && outcome.error.contains("\(code): words"), "\(outcome)")
    }
    #expect(try await request("ping/#").status == 64)
    #expect(try await request("ping", ["--field", "none"]).status == 64)
    #expect(try await request("ping", ["--fields", "-"], input: "[]").status == 65)
    try await answering.stop()
    let silent = try await request("ping", seconds: 1)
    #expect(silent.status == 75 && silent.error.contains("nobody answers"))
    broker.stop()
    let unreachable = try await request("ping")
    #expect(unreachable.status == 69)
    #expect(unreachable.error.contains("(`--host`, `--port`)"), "\(unreachable.error)")
  }
}
