// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import Synchronization
import TestKit
import Testing
import ThreadkeeperSupport

@Suite("client request, with a daemon played by the test", .inTurns, .timeLimit(.minutes(30)))
struct ClientRequestTests {
  private let broker: TestBroker
  private let directory: TemporaryDirectory
  private let daemonIdentity: Identity
  private let response = "threadkeeper/out/phone/response/preferred/get"

  init() throws {
    broker = try TestBroker()
    directory = try TemporaryDirectory()
    daemonIdentity = try Identity()
  }

  /// Answers every request by what the test makes of it.
  private final class Answerer: Sendable {
    let client: TestClient

    init(
      _ broker: TestBroker, _ answers: @escaping @Sendable (IncomingMessage) throws -> [Publication]
    ) async throws {
      let publisher = try await TestPublisher.start(broker)
      client = TestClient(
        broker.configuration(clientID: "keeper", "threadkeeper/in/+/request/#")
      ) { batch in
        for message in batch {
          let publications = try answers(message)
          Task { try await publisher.publish(publications) }
        }
      }
      try await client.ready()
    }
  }

  private func answer(
    _ request: IncomingMessage, _ text: String, topic: String? = nil, correlation: [UInt8]? = nil
  ) -> Publication {
    Publication(
      topic: topic ?? request.responseTopic ?? "", payload: Array(text.utf8),
      correlationData: correlation ?? request.correlationData)
  }

  private func seal(
    _ body: String, to client: PublicIdentity, topic: String, answering transaction: String
  ) throws -> String {
    String(
      decoding: try Envelope.seal(
        Array(body.utf8), to: client, from: daemonIdentity,
        at: .init(
          topic: topic, order: .identifier(transaction), now: Int64(Date().timeIntervalSince1970),
          lifetime: 30)), as: UTF8.self)
  }

  private func request(
    _ command: String, _ more: String..., input: String = "", seconds: Int = 20
  ) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(
      [
        "client", "request", command, "--username", "phone", "--host", "127.0.0.1", "--port",
        "\(broker.port)", "--timeout", "\(seconds)",
      ] + more, input: .text(input), environment: ["HOME": directory.path])
  }

  @Test("A sealed request arrives, its sealed answer is opened, and neither can be read on the way")
  func sealed() async throws {
    let key = directory.file("phone.key")
    let made = try await ThreadkeeperBinary.run("client", "keygen", "--out", key, "--json")
    let phone = try PublicIdentity(line: try #require(JSON(made.output)?["line"]?.text))
    let opened = Mutex<[String]>([])
    let audience = try await Audience.start(broker)
    let answerer = try await Answerer(broker) { [daemonIdentity, response] request in
      let envelope = try #require(UntrustedJSON.value(of: "sealed", in: request.payload, depth: 8))
      let body = try Envelope.open(
        envelope, with: daemonIdentity, from: [phone], topic: request.topic,
        now: Int64(Date().timeIntervalSince1970)
      ).body
      opened.withLock { $0.append(String(decoding: body, as: UTF8.self)) }
      let transaction = String(decoding: request.correlationData ?? [], as: UTF8.self)
      let isOld = String(decoding: body, as: UTF8.self).contains("attic")
      let data = try self.seal(
        #"{"dataset":"0e08abcdef"}"#, to: phone, topic: response,
        answering: isOld ? "another" : transaction)
      return [
        // To somebody else of this login, and a forgery.
        self.answer(request, #"{"v":1,"status":"ok","data":{}}"#, correlation: [1]),
        self.answer(request, #"{"v":1,"status":"ok","data":{"sealed":\#(data)}}"#),
      ]
    }
    let line = daemonIdentity.keys.line
    let outcome = try await request(
      "preferred/get", "--key", key, "--daemon", line, "--field", "home=home")
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output == "{\"dataset\":\"0e08abcdef\"}\n")
    let fields = JSON(opened.withLock { $0.first } ?? "")
    #expect(fields?["home"] == "home")
    #expect(fields?["transaction"] != nil)
    let piped = try await request(
      "preferred/get", "--key", key, "--daemon", line, "--fields", "-", "--json",
      input: #" {"home":"cabin"} "#)
    #expect(JSON(piped.output)?["sealed"] == true, "\(piped.error)")
    #expect(JSON(opened.withLock { $0.last } ?? "")?["home"] == "cabin")
    let old = try await request(
      "preferred/get", "--key", key, "--daemon", line, "--field", "home=attic")
    #expect(old.status == 65 && old.error.contains("replayed"), "\(old.error)")
    for message in audience.look({ $0.messages }) {
      let text = String(decoding: message.payload, as: UTF8.self)
      #expect(!text.contains("0e08abcdef") && !text.contains("cabin"))
    }
    _ = answerer
  }

  @Test("What is secret and came in plaintext is refused, and what is not is taken")
  func forged() async throws {
    let key = directory.file("phone.key")
    _ = try await ThreadkeeperBinary.run("client", "keygen", "--out", key)
    let answerer = try await Answerer(broker) { request in
      [self.answer(request, #"{"v":1,"status":"ok","data":{"dataset":"00"}}"#)]
    }
    let line = daemonIdentity.keys.line
    let forged = try await request("preferred/get", "--key", key, "--daemon", line)
    #expect(forged.status == 65 && forged.error.contains("not_sealed"))
    #expect(forged.output.isEmpty)
    #expect(try await request("ping", "--key", key, "--daemon", line).status == 0)
    _ = answerer
  }

  @Test(
    "Refusals end with their status, and say their code",
    arguments: [
      ("consent_denied", 77), ("not_enrolled", 77), ("not_found", 66), ("rate_limited", 75),
      ("invalid_payload", 65), ("unsupported", 69), ("read_only", 74),
    ] as [(String, Int32)])
  func refusals(code: String, status: Int32) async throws {
    let answerer = try await Answerer(broker) { request in
      // As a broker of MQTT 3.1.1 would pass it on.
      let transaction = JSON(String(decoding: request.payload, as: UTF8.self))?["transaction"]?.text
      var publication = self.answer(
        request,
        #"{"v":1,"status":"error","error":{"code":"\#(code)","message":"words"},"#
          + #""transaction":"\#(transaction ?? "")"}"#)
      publication.correlationData = nil
      return [publication]
    }
    let outcome = try await request("network/get", "--field", "ext_pan_id=1111111122222222")
    #expect(outcome.status == status)
    #expect(outcome.error.contains("\(code): words"))
    _ = answerer
  }

  @Test("Nobody there, wrong usage: words and a status")
  func nobody() async throws {
    let silent = try await request("ping", seconds: 1)
    #expect(silent.status == 75 && silent.error.contains("nobody answers"))
    #expect(try await request("ping/#").status == 64)
    #expect(try await request("ping", "--field", "none").status == 64)
    #expect(try await request("ping", "--fields", "-", input: "[]").status == 65)
    broker.stop()
    let unreachable = try await request("ping")
    #expect(unreachable.status == 69)
    #expect(unreachable.error.contains("(`--host`, `--port`)"), "\(unreachable.error)")
  }
}
