// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What status says of refusals")
struct DaemonStateWordsTests {
  @Test("The last topic is named, unless the problem names it already")
  func lastTopic() {
    var refused = DaemonState.Refused(
      topics: 1, lastTopic: "a/b", problem: "too large", remedy: "Look into the log.")
    #expect(refused.words == "1 topic; the last, `a/b`: too large. Look into the log.")
    (refused.topics, refused.problem) = (2, "a/b is too large")
    #expect(refused.words == "2 topics; the last: a/b is too large. Look into the log.")
  }
}
