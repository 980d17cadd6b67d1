// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@testable import Bridge

@Suite("The message that is applied alone")
struct MessageTrialTests {
  let bridge: TestBridge
  let message = IncomingMessage(topic: "threadkeeper/in/anna/announce", payload: [1])

  init() throws { bridge = try TestBridge() }

  /// A value for each process.
  private func begin(_ message: IncomingMessage) throws -> Int64 {
    var trial = MessageTrial()
    return try trial.begin(message, in: bridge.database)
  }

  @Test("Processes that ended while they applied it are counted; another message begins at 0")
  func counts() throws {
    #expect(try [begin(message), begin(message), begin(message)] == [0, 1, 2])
    #expect(try begin(IncomingMessage(topic: message.topic, payload: [2])) == 0)
    #expect(try begin(message) == 0)
  }

  @Test("A connection that is lost in the same process counts no end")
  func reconnect() throws {
    #expect(try begin(message) == 0)
    var trial = MessageTrial()
    #expect(
      try [
        trial.begin(message, in: bridge.database), trial.begin(message, in: bridge.database),
        trial.begin(message, in: bridge.database),
      ] == [1, 1, 1])
  }

  @Test("What was applied, or failed for want of a store, is forgotten")
  func forgotten() throws {
    #expect(try begin(message) == 0)
    try bridge.database.write { try MessageTrial.end($0) }
    #expect(try begin(message) == 0)
    var trial = MessageTrial()
    _ = try trial.begin(message, in: bridge.database)
    trial.withdraw(in: bridge.database)
    #expect(try begin(message) == 0)
  }
}
