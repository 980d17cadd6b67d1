// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import KeychainCore
import Logging
import TestKit
import Testing

@testable import Bridge

@Suite("A session that another client takes over", .timeLimit(.minutes(30)))
struct SessionTakeoverTests {
  @Test(
    "The alert and health say so while it lasts, and end when the session is the daemon's own again",
    arguments: ["intake", "status"])
  func contest(of session: String) async throws {
    let broker = try TestBroker()
    let store = try TemporaryStore()
    var connection = broker.configuration(clientID: "unused")
    connection.keepAlive = 10
    let bridge = try Bridge(
      BridgeConfiguration(
        version: "test", topics: BaseTopics([.init(name: "home", base: "threadkeeper")])),
      connection: connection, clientID: "daemon", store: SealedRecords(store.keychain),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let serving = Task { try await bridge.serve() }
    let listener = try await TestSubscriber.start(broker, "threadkeeper/bridge/#")

    let other = broker.configuration(clientID: "daemon-\(session)")
    // Until it is in the health: how long the daemon is without its session is for the backoff to say.
    let rival = Task {
      while !Task.isCancelled {
        // Beside a publication, a closed connection could have another reason.
        try await Task.sleep(for: .milliseconds(300))
        // The alert tells whether it got in; on a busy machine an attempt may take long.
        _ = await MosquittoClient.attempt(other, within: .seconds(60))
      }
    }
    defer { rival.cancel() }
    func alerts(_ type: String) -> @Sendable ([IncomingMessage]) -> Bool {
      { messages in
        messages.contains {
          $0.topic == "threadkeeper/bridge/event/alert" && $0.says("event_type", type)
            && $0.says("alertname", "SessionTakenOver")
        }
      }
    }
    _ = try await listener.wait(until: alerts("alert_raised"))
    _ = try await listener.wait { messages in
      messages.contains {
        $0.topic == "threadkeeper/bridge/health" && $0.text.contains("same client id")
      }
    }
    rival.cancel()
    let all = try await listener.wait(until: alerts("alert_resolved"))
    #expect(all.allSatisfy { !$0.text.contains("daemon-\(session)") })
    try await eventually { bridge.monitor.snapshot.reason == nil }
    #expect(bridge.monitor.snapshot.intake == .running)
    bridge.stop()
    try await serving.value
    try await listener.stop()
  }
}

extension IncomingMessage {
  fileprivate var text: String { String(decoding: payload, as: UTF8.self) }

  fileprivate func says(_ field: String, _ value: String) -> Bool {
    let object = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
    return object?[field] as? String == value
  }
}
