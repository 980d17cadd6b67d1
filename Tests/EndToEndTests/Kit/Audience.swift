import Broker
import Foundation
import Synchronization
import TestKit

/// Somebody who hears everything on the broker and keeps it in order.
final class Audience: Sendable {
  /// What has come so far.
  struct Heard: Sendable {
    /// The newest payload of each topic; empty where the topic was emptied.
    var latest: [String: String] = [:]
    /// From `bridge/event`, of any home.
    var events: [JSON] = []
    /// From `bridge/event/alert`, of any home.
    var alertEvents: [JSON] = []
    var messages: [IncomingMessage] = []

    func state(_ topic: String) -> JSON? { latest[topic].flatMap { JSON($0) } }

    func events(_ type: String) -> [JSON] { events.filter { $0["event_type"]?.text == type } }

    func alerts(_ type: String, _ name: String) -> [JSON] {
      alertEvents.filter { $0["event_type"]?.text == type && $0["alertname"]?.text == name }
    }
  }

  private let client: TestClient
  private let heard: Holder

  private final class Holder: Sendable { let state = Mutex(Heard()) }

  /// Returns when the subscription holds; what is retained may still follow, until `caughtUp` has returned.
  static func start(_ broker: TestBroker, user: String? = nil, _ filter: String = "#") async throws -> Audience {
    var configuration = broker.configuration(clientID: "audience-\(UInt32.random(in: 0 ... .max))", user: user, filter)
    // A broker that is killed forgets it anyway; one that is not must not tell things twice.
    configuration.cleanStart = true
    configuration.sessionExpiry = 0
    let audience = Audience(configuration)
    try await audience.client.ready()
    return audience
  }

  init(_ configuration: MosquittoConfiguration) {
    let holder = Holder()
    heard = holder
    client = TestClient(configuration) { batch in
      holder.state.withLock { heard in for message in batch { heard.take(message) } }
    }
  }

  /// Waits until the subscription holds on the given connection, counted from 1.
  func ready(connection: Int) async throws { try await client.ready(connection: connection) }

  /// Returns when all has come that was published or retained before: something of its own comes after it. Only
  /// for who hears everything, where everybody may publish.
  func caughtUp() async throws {
    let topic = "audience/\(UInt64.random(in: 0 ... .max))"
    client.publish([Publication(topic: topic, payload: [])])
    try await until("its own word") { $0.messages.contains { $0.topic == topic } }
  }

  func look<Value: Sendable>(_ question: (Heard) throws -> Value) rethrows -> Value {
    try heard.state.withLock { try question($0) }
  }

  func state(_ topic: String) -> JSON? { look { $0.state(topic) } }

  /// Waits until what was heard fulfils a condition.
  func until(_ what: String, within limit: Duration = .seconds(60), _ condition: (Heard) -> Bool) async throws {
    do { try await eventually(within: limit, what) { look(condition) } } catch let error as TimedOut {
      let lines = look { heard in
        (heard.events.suffix(12) + heard.alertEvents.suffix(6)).map(\.description)
          + heard.latest.keys.sorted().suffix(30)
      }
      throw DaemonProcess.Unexpected(
        description: "\(error); the last of what was heard:\n  \(lines.joined(separator: "\n  "))")
    }
  }

  func stop() async throws { try await client.stop() }
}

extension Audience.Heard {
  fileprivate mutating func take(_ message: IncomingMessage) {
    messages.append(message)
    guard !message.topic.contains("/in/") else { return }
    let text = String(decoding: message.payload, as: UTF8.self)
    latest[message.topic] = text
    guard let value = JSON(text) else { return }
    if message.topic.hasSuffix("/bridge/event") { events.append(value) }
    if message.topic.hasSuffix("/bridge/event/alert") { alertEvents.append(value) }
  }
}
