// SPDX-License-Identifier: Apache-2.0

import Bridge
import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What status says of refusals and discovery")
struct DaemonStateWordsTests {
  @Test("The last topic is named, unless the problem names it already")
  func lastTopic() {
    var refused = DaemonState.Refused(
      topics: 1, lastTopic: "a/b", problem: "too large", remedy: "Look into the log.")
    #expect(refused.words == "1 topic; the last, `a/b`: too large. Look into the log.")
    (refused.topics, refused.problem) = (2, "a/b is too large")
    #expect(refused.words == "2 topics; the last: a/b is too large. Look into the log.")
  }

  @Test("The search on the local network says how many it lists, or what to do")
  func discovery() {
    func words(_ state: DiscoveryState) -> String { DaemonState.Discovery(state).words }
    #expect(words(.off) == "off (setting `discovery.mdns`)")
    #expect(words(.starting) == "starting")
    #expect(words(.running(routers: 1, refused: 0)) == "mDNS, 1 border router")
    #expect(
      words(.running(routers: 3, refused: 2)) == "mDNS, 3 border routers; records not listed: 2")
    #expect(
      words(.unavailable(message: "Nobody answers.", remedy: "Install it."))
        == "unavailable: Nobody answers. Install it.")
  }
}
