// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Bridge
@testable import ThreadkeeperDaemon

@Suite("What status is told of refusals")
struct DaemonStateTests {
  @Test("The longest topic that a client can choose leaves room for the rest of the record")
  func longTopic() throws {
    for letter in ["\"", "\\", "😀"] {
      let topic = String(repeating: letter, count: 1_024)
      let refused = DaemonState.Refused(
        .init(
          topics: 1, last: topic,
          problem: "the access list does not let `anna` publish to \(topic)",
          isByAccess: true))
      #expect(try JSONEncoder().encode(refused).count < 3_000)
      #expect(refused.remedy.contains("threadkeeper acl"))
    }
    let short = DaemonState.Refused(
      .init(topics: 1, last: "a/b", problem: "too large", isByAccess: false))
    #expect(short.lastTopic == "a/b" && !short.remedy.contains("acl"))
  }
}
