// SPDX-License-Identifier: Apache-2.0

import MosquittoClient
import ThreadkeeperDaemon

/// The story goes on when the daemon has said what it must say.
extension DemoStage {
  private static let limit = Duration.seconds(15)

  func heard(_ event: String, from router: SimulatedRouter, count: Int = 1) async throws {
    try await heard(event, from: router.agent, count: count)
  }

  /// - Parameter agent: a border agent id.
  func heard(_ event: String, from agent: String, count: Int = 1) async throws {
    try await until("\(event) of \(agent)") { messages in
      messages.count {
        $0.topic == "threadkeeper/bridge/event" && $0.says(event) && $0.says(agent)
      } >= count
    }
  }

  /// Seconds before each act, so that a person can follow on the page; nil where no person watches.
  var pause: Int? { StandardStream.output.isTerminal ? 4 : nil }

  /// Begins the next part of the story.
  func act(_ heading: String) async throws {
    if let pause { try await Task.sleep(for: .seconds(pause)) }
    timeline.heading(heading)
  }

  /// - Parameter name: of the alert, or a border agent id that it is about.
  func heardAlert(_ event: String, _ name: String) async throws {
    try await until("\(event) \(name)") { messages in
      messages.contains {
        $0.topic == "threadkeeper/bridge/event/alert" && $0.says(event) && $0.says(name)
      }
    }
  }

  func until(_ what: String, _ condition: @escaping @Sendable ([IncomingMessage]) -> Bool)
    async throws
  {
    let deadline = ContinuousClock.now + Self.limit
    while !condition(audience.messages) {
      guard ContinuousClock.now < deadline else {
        throw CommandFailure(.software, "the demonstration waited for \(what) in vain")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}

extension IncomingMessage {
  fileprivate func says(_ word: String) -> Bool {
    String(decoding: payload, as: UTF8.self).contains("\"\(word)\"")
  }
}
