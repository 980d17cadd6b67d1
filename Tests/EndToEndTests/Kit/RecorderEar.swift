import Broker
import Foundation
import TestKit

/// What a recorder has at one broker.
///
/// It has a session, so that what is published while it is away waits for it, also over a restart of a
/// broker that keeps sessions. Where a broker has forgotten its session, nobody knows what it has missed.
struct RecorderEar: Sendable {
  let name: String
  /// Kept, so that it does not end before it is heard out; nil for one that a daemon has started itself.
  let broker: TestBroker?
  /// Where this one may publish.
  let mark: String
  let client: TestClient

  /// - Parameter heard: called with all that comes.
  init(
    _ configuration: MosquittoConfiguration, broker: TestBroker?, heard: @escaping @Sendable ([IncomingMessage]) -> Void
  ) {
    var configuration = configuration
    configuration.cleanStart = false
    configuration.sessionExpiry = 3600
    name = "the broker on port \(configuration.port)"
    self.broker = broker
    let base = broker?.broker.configuration.baseTopics.first ?? "threadkeeper"
    mark = "\(base)/\(configuration.clientID)"
    client = TestClient(configuration, onReceived: heard)
  }

  private var record: RecordingHandler.Record { client.handler.record }

  /// Whether it has ever been able to hear everything.
  var hasSubscribed: Bool { record.subscribed.contains { $0.isEmpty } }

  /// How often the broker had forgotten it.
  var gaps: Int { record.sessions.dropFirst().count { !$0.sessionPresent } }

  /// How often nothing has listened where the broker should be.
  private var attemptsInVain: Int {
    record.disconnections.count { !$0.wasConnected && $0.error.reason == .nothingListens }
  }

  private var isConnected: Bool {
    let record = record
    // There is a disconnection for each attempt that failed, too.
    return record.sessions.count > record.disconnections.count { $0.wasConnected }
  }

  /// One that a daemon has started ends with it, and tells nobody else: it is gone when nothing listens.
  ///
  /// - Parameter attempts: those in vain, from which on it is.
  private func isBrokerThere(untilInVain attempts: Int) -> Bool {
    broker.map { $0.broker.isRunning } ?? (isConnected || attemptsInVain < attempts)
  }

  /// Returns when all has come that was published before: something of its own comes after it.
  ///
  /// - Returns: what keeps it from that.
  func drain(within limit: Duration) async -> String? {
    let deadline = ContinuousClock.now + limit
    // The first one may have begun before this.
    let inVain = attemptsInVain + 2
    while isBrokerThere(untilInVain: inVain) {
      let topic = "\(mark)/\(UInt64.random(in: 0 ... .max))"
      client.publish([Publication(topic: topic, payload: [])])
      // One that was under way when the connection broke may be lost.
      let timeout = min(deadline, .now + .seconds(2))
      while isBrokerThere(untilInVain: inVain), ContinuousClock.now < timeout {
        if record.messages.contains(where: { $0.topic == topic }) { return nil }
        try? await Task.sleep(for: .milliseconds(2))
      }
      guard ContinuousClock.now < deadline else { return "\(name) was not heard out: \(broker?.broker.logTail ?? "")" }
    }
    return hasSubscribed ? nil : "\(name) was never listened to"
  }
}
