import Broker
import Foundation
import Synchronization
import TestKit
import Testing

/// Hears everything on every broker of a test, knows every secret that the kit has made for it, and looks
/// for the ones in the others when the test is over. `inTurns` gives one to each test; the test itself
/// need not know of it.
///
/// What routers and clients say, below `in/`, holds datasets in plaintext and is left out, unless the test
/// says that all who publish are enrolled.
final class Recorder: TestBrokerObserver {
  /// That of the test which runs.
  static var current: Recorder? { TestBroker.observer as? Recorder }

  /// Something secret in something that was published.
  struct Find: CustomStringConvertible {
    let topic: String
    let needles: [String]

    var description: String { "\(topic) has \(needles.joined(separator: ", "))" }
  }

  private struct State {
    var messages: [IncomingMessage] = []
    var needles = Needles()
    var ears: [RecorderEar] = []
    var ports: Set<UInt16> = []
    var hearsSealedOnly = false
    var mayMissSomething = false
  }

  private let state = Mutex(State())
  private let beforeHearing: @Sendable () -> Void

  /// - Parameter beforeHearing: called before each batch is taken note of; may block.
  init(beforeHearing: @escaping @Sendable () -> Void = {}) { self.beforeHearing = beforeHearing }

  /// Runs something whose brokers and secrets this one takes note of.
  func observe(_ body: () async throws -> Void) async throws {
    try await TestBroker.$observer.withValue(self, operation: body)
  }

  /// Lets the brokers go, which would be kept by what listens to them, and that by this.
  func end() { state.withLock { $0.ears.removeAll() } }

  // MARK: What is heard

  /// Begins to listen, in the background. The broker is there until this has heard all.
  func listen(to broker: TestBroker) {
    listen(broker.configuration(clientID: Self.clientID, user: broker.observerLogin, "#"), broker)
  }

  /// The same for the broker that a daemon has started itself, with the daemon's own login: that one may
  /// read everything. Nothing when there is none.
  func listen(toBrokerIn directory: String) {
    func read(_ file: String) -> String {
      (try? String(contentsOfFile: "\(directory)/broker/\(file)", encoding: .utf8)) ?? ""
    }
    let logins = read("logins").split(separator: "\n").map { $0.split(separator: "\t") }
    for login in logins where login.count == 2 { note("the password of \(login[0])", String(login[1])) }
    guard let port = UInt16(read("port").filter(\.isNumber)),
      let password = logins.first(where: { $0.first == "threadkeeper" })?.last,
      state.withLock({ $0.ports.insert(port).inserted })
    else { return }
    listen(
      MosquittoConfiguration(
        host: "127.0.0.1", port: port, clientID: Self.clientID, username: "threadkeeper", password: String(password),
        subscriptions: [.init("#")],
        reconnect: MosquittoConfiguration.Backoff(initial: .milliseconds(20), ceiling: .milliseconds(200), jitter: 0.2))
    )
  }

  private static var clientID: String { "recorder-\(UInt32.random(in: 0 ... .max))" }

  private func listen(_ configuration: MosquittoConfiguration, _ broker: TestBroker? = nil) {
    let ear = RecorderEar(configuration, broker: broker) { [weak self, beforeHearing] batch in
      beforeHearing()
      let others = batch.filter { !$0.topic.contains("/\(configuration.clientID)/") }
      self?.state.withLock { $0.messages += others }
    }
    state.withLock { $0.ears.append(ear) }
  }

  /// Returns when all subscriptions hold whose broker is there.
  func ready() async throws { for ear in state.withLock({ $0.ears }) { try await ear.client.ready() } }

  /// Returns when all has come that any broker has taken until now. One that has ended and is not there again
  /// tells no more; what it has taken last may be lost.
  ///
  /// - Returns: which brokers were not heard, and why.
  func hearOut(within limit: Duration = .seconds(60)) async -> [String] {
    var troubles: [String] = []
    for ear in state.withLock({ $0.ears }) {
      if let trouble = await ear.drain(within: limit) { troubles.append(trouble) }
    }
    return troubles
  }

  /// How often a broker had forgotten what was still to be told here.
  var gaps: Int { state.withLock { $0.ears }.reduce(0) { $0 + $1.gaps } }

  /// For a test that has a broker forget everything. What is published until this one is back may not be heard.
  func brokersMayForget() { state.withLock { $0.mayMissSomething = true } }

  var messages: [IncomingMessage] { state.withLock { $0.messages } }

  // MARK: What is secret

  /// A secret of bytes, such as a network key.
  func note(_ name: String, _ secret: [UInt8]) { state.withLock { $0.needles.note(name, secret) } }

  /// A secret of text, such as a password.
  func note(_ name: String, _ secret: String) { state.withLock { $0.needles.note(name, secret) } }

  /// From now on nothing at all may show a secret, and nothing may have until now.
  func allPublishersAreEnrolled() { state.withLock { $0.hearsSealedOnly = true } }

  // MARK: The search

  func finds() -> [Find] {
    let (messages, needles, isSealed) = state.withLock { ($0.messages, $0.needles, $0.hearsSealedOnly) }
    let published = messages.filter { message in
      let topic = message.topic
      return isSealed || !(topic.contains("/in/") || topic.hasSuffix("/in"))
    }
    let texts = published.map { message -> Data in
      // All that a publisher can put something into.
      let parts = [
        Array(message.topic.utf8), message.payload, message.correlationData ?? [],
        Array((message.responseTopic ?? "").utf8),
      ]
      return Data(parts.joined(separator: [0x0A]))
    }
    return needles.found(inAll: texts).map { Find(topic: published[$0.place].topic, needles: $0.names) }
  }

  /// What was found is a failure of the test; so is that nobody has listened, or not to all of it.
  func check() async { for complaint in await complaints() + messageComplaints() { Issue.record("\(complaint)") } }

  /// What `docs/reference/asyncapi.yaml` does not allow. Nothing where the package that validates is not to be had:
  /// the suite about the document is skipped then, which says so.
  private func messageComplaints() -> [String] {
    guard let library = SchemaLibrary.shared else { return [] }
    do {
      return try MessageCheck(document: AsyncAPIDocument.shared.get(), library: library).complaints(about: messages)
    } catch { return ["no message could be validated: \(error)"] }
  }

  /// What is wrong with what was published, or with the hearing of it.
  func complaints() async -> [String] {
    let troubles = await hearOut().map { "the recorder is deaf: \($0)" }
    let (ears, mayMiss) = state.withLock { ($0.ears, $0.mayMissSomething) }
    let holes = ears.filter { $0.gaps > 0 && !mayMiss }.map {
      "the recorder may have missed something: \($0.name) has forgotten its session"
    }
    return troubles + holes + finds().map { "a secret was published: \($0)" }
  }
}
