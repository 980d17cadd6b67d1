// SPDX-License-Identifier: Apache-2.0

import Bridge
import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What status says of refusals, discovery and the page")
struct DaemonStateWordsTests {
  @Test("The last topic is named, unless the problem names it already")
  func lastTopic() {
    var refused = DaemonState.Refused(
      topics: 1, lastTopic: "a/b", problem: "too large", remedy: "Look into the log.")
    #expect(refused.words == "1 topic; the last, `a/b`: too large. Look into the log.")
    (refused.topics, refused.problem) = (2, "a/b is too large")
    #expect(refused.words == "2 topics; the last: a/b is too large. Look into the log.")
  }

  @Test("The page has an address that can be opened, or says that a proxy shows it")
  func page() {
    var page = DaemonState.Page(.listening)
    (page.url, page.needsToken) = ("http://127.0.0.1:8423/", false)
    #expect(
      page.words
        == "http://127.0.0.1:8423/, read only; `threadkeeper page token` lets you change something there"
    )
    page.needsToken = true
    let link = "http://127.0.0.1:8423/, with the link of `threadkeeper page token`"
    #expect(page.words == link)
    page.trustedProxy = "172.30.32.2"
    #expect(page.words == "\(link), or through the proxy 172.30.32.2")
    page.url = nil
    #expect(page.words == "through the proxy 172.30.32.2")
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
