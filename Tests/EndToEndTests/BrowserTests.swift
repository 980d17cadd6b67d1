// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// The page in a real browser. With `MAKE_SCREENSHOTS=1` the pictures of the documents are made anew, and the time of
/// the first paint is printed.
@Suite(
  "The page in Chromium", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: DebianTool.chromium != nil))
struct BrowserTests {
  @Test("It shows a healthy home, a router on another network, and a request for consent")
  func shows() async throws {
    let home = try await PageHome()
    let network = try ThreadNetwork("home")
    let (hub, attic) = (BorderRouter(number: 1), BorderRouter(number: 2))
    try await home.announce(hub, "Hallway hub", network)
    try await home.announce(attic, "Attic", network)
    try await home.announce(BorderRouter(number: 3), "Kitchen speaker", network)
    let tab = try await home.browser()
    try await tab.open(home.link)
    try await tab.waitForText("Attic")
    try await tab.waitForText("All is well.")

    try await home.announce(attic, "Attic", try ThreadNetwork("guest-thread"))
    for text in ["PreferredNetworkMismatch", "not on the preferred network", "What to do: "] {
      try await tab.waitForText(text)
    }
    try await tab.wait("document.querySelectorAll('.fault').length === 1")
    try await tab.pictures("page")
    let html = try await tab.evaluate("document.documentElement.outerHTML").text ?? ""
    #expect(!html.contains(try network.hex()) && !html.contains(PageHome.token))

    let asking = home.ask()
    try await tab.waitForText(" asks for the credentials of home")
    try await tab.waitForText("Waits for ")
    try await tab.pictures("page-consent")
    try await tab.click("Deny")
    #expect(try await !asking.value)

    try await home.announce(attic, "<b>Attic</b>", network)
    try await tab.waitForText("<b>Attic</b>")
    #expect(try await tab.evaluate("document.querySelectorAll('b').length") == 0)
    #expect(try await home.daemon.stop() == .exit(0))
  }

  @Test(
    "The header has the words and the colour of the worst alert, the router at fault is marked, and events are sentences"
  )
  func words() async throws {
    let home = try await PageHome()
    let network = try ThreadNetwork("home")
    let (hub, attic) = (BorderRouter(number: 1), BorderRouter(number: 2))
    try await home.announce(hub, "Kitchen", network)
    try await eventually("the preferred network") { try await home.preferred == "home" }
    let tab = try await home.browser()
    try await tab.open(home.link)
    try await tab.waitForText("All is well.")
    #expect(try await tab.evaluate("document.getElementById('verdict').className") == "good")
    #expect(try await tab.evaluate("document.querySelectorAll('.fault').length") == 0)
    try await home.announce(attic, "Attic", try ThreadNetwork("guest"))
    let lead = "document.querySelector('#verdict .lead').textContent"
    try await tab.wait(#"\#(lead).startsWith('"Attic" is on "guest"')"#)
    #expect(try await tab.evaluate("document.getElementById('verdict').className") == "warn")
    try await tab.wait(
      "[...document.querySelectorAll('.fault .name')].map(e => e.textContent).join() === 'Attic'")
    let heading = try await tab.evaluate("document.querySelector('#alerts h3').textContent")
    #expect(
      heading.text?.hasPrefix(#""Attic" is on "guest""#) == true, "not an identifier: \(heading)")
    try await tab.waitForText("Attic announced itself.")
    try await home.publisher.publish([hub.says("offline")])
    try await tab.waitForText("1 more thing is wrong.")
    try await home.publisher.publish([hub.says("heartbeat")])
    try await tab.waitForText("Kitchen is back.")
    let text = try await tab.evaluate("document.body.innerText").text ?? ""
    #expect(!text.contains("`") && !text.contains("border_agent_id"), "\(text)")
    #expect(!text.contains("1 border routers") && !text.contains("1 minutes"), "\(text)")
    try await home.daemon.stop()
  }

  @Test(
    "A network has a button to prefer it where it can be, and one to accept it where routers are on it"
  )
  func preferable() async throws {
    let home = try await PageHome()
    try await home.announce(BorderRouter(number: 1), "Kitchen", try ThreadNetwork("home"))
    try await home.announce(BorderRouter(number: 2), "Attic", try ThreadNetwork("guest"))
    try await home.announce(BorderRouter(number: 3), "Cellar", try ThreadNetwork("third"))
    let tab = try await home.browser()
    try await tab.open(home.link)
    let buttons = "[...document.querySelectorAll('button[aria-label^=\"Prefer: \"]')].length"
    try await tab.wait("\(buttons) === 2")
    try await tab.evaluate(
      """
      known.homes[0].networks.find(item => item.name === 'third').preferable = false;
      show()
      """)
    #expect(try await tab.evaluate(buttons) == 1)
    let accept = "document.querySelectorAll('button[aria-label^=\"Accept: third\"]').length"
    #expect(try await tab.evaluate(accept) == 1)
    try await tab.evaluate(
      """
      Object.assign(known.homes[0].networks.find(item => item.name === 'third'), {
        routers: [], shared_by: ['ha']
      });
      show()
      """)
    #expect(try await tab.evaluate(accept) == 0)
    try await home.daemon.stop()
  }

  @Test("Without the token the page shows, and has nothing to press")
  func withoutToken() async throws {
    let broker = try TestBroker()
    let port = try UnusedPort.next()
    let installation = try Installation(broker, more: "http: {enabled: true, port: \(port)}")
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish([
      BorderRouter(number: 1).announces(try ThreadNetwork("home").hex()),
      BorderRouter(number: 2).announces(try ThreadNetwork("other").hex()),
    ])
    let chromium = try #require(DebianTool.chromium)
    let tab = try await BrowserTab(Browser(chromium, in: installation.directory))
    try await tab.open("http://127.0.0.1:\(port)/")
    try await tab.waitForText("other")
    #expect(try await tab.evaluate("document.querySelectorAll('button').length") == 0)
    try await daemon.stop()
  }

  @Test(
    "It is painted once it is there, and has the state with it: nothing is loaded for the first paint"
  )
  func paint() async throws {
    let home = try await PageHome()
    try await home.announce(BorderRouter(number: 1), "Kitchen", try ThreadNetwork("home"))
    let tab = try await home.browser()
    try await tab.open(home.link)
    try await tab.waitForText("Kitchen")
    // The second time without the exchange of the token, as a person opens it every day.
    try await tab.open("http://127.0.0.1:\(home.port)/")
    let paint = "performance.getEntriesByName('first-contentful-paint')[0]"
    try await tab.wait("\(paint) !== undefined")
    let milliseconds = try await tab.evaluate("Math.round(\(paint).startTime)")
    if BrowserTab.takesPictures { print("first contentful paint: \(milliseconds) ms") }
    let loaded = try await tab.evaluate(
      "performance.getEntriesByType('resource').filter(e => !e.name.endsWith('/events')).length")
    #expect(loaded == 0)
    #expect(
      try await tab.evaluate("document.getElementById('first').textContent.includes('Kitchen')")
        == true)
    try await home.daemon.stop()
  }

  @Test("It follows by itself, says when the daemon is away, and is back with the daemon")
  func live() async throws {
    let home = try await PageHome()
    let network = try ThreadNetwork("home")
    try await home.announce(BorderRouter(number: 1), "Kitchen", network)
    let tab = try await home.browser()
    try await tab.open(home.link)
    try await tab.waitForText("Kitchen")
    // Gone when the page is loaded again.
    try await tab.evaluate("window.isStillTheSame = true")
    try await home.announce(BorderRouter(number: 2), "Attic", network)
    try await tab.waitForText("Attic")

    #expect(try await home.daemon.stop() == .exit(0), "a page that is open keeps no daemon")
    try await tab.wait("!document.getElementById('away').hidden")
    try await home.startAgain()
    try await tab.wait("document.getElementById('away').hidden")
    try await home.announce(BorderRouter(number: 3), "Cellar", network)
    try await tab.waitForText("Cellar")
    #expect(try await tab.evaluate("window.isStillTheSame") == true)
    try await home.daemon.stop()
  }

  @Test("Two routers of one name have an alert each, and none is left once both have ended")
  func sameName() async throws {
    let home = try await PageHome()
    let (network, other) = (try ThreadNetwork("home"), try ThreadNetwork("other"))
    try await home.announce(BorderRouter(number: 1), "Kitchen", network)
    try await eventually("the preferred network") { try await home.preferred == "home" }
    let tab = try await home.browser()
    try await tab.open(home.link)
    let twins = [BorderRouter(number: 2), BorderRouter(number: 3)]
    func announce(_ network: ThreadNetwork) async throws {
      let (hex, name) = ("\"\(try network.hex())\"", "\"Twin\"")
      // Together, so that both begin in the same second.
      try await home.publisher.publish(
        twins.map { $0.says("announce", ("name", name), ("dataset", hex)) })
    }
    func expectAlerts(_ count: Int) async throws {
      try await tab.wait(
        "known.alerts.filter(item => item.name === 'PreferredNetworkMismatch').length === \(count)")
      try await tab.wait(
        """
        [...document.querySelectorAll('#alerts article')]
          .filter(card => card.innerText.includes('PreferredNetworkMismatch')).length === \(count)
        """)
    }
    try await announce(other)
    try await expectAlerts(2)
    // Something else is new, and they are still two.
    try await home.announce(BorderRouter(number: 1), "Pantry", network)
    try await tab.waitForText("Pantry")
    try await expectAlerts(2)
    try await announce(network)
    try await expectAlerts(0)
    try await home.daemon.stop()
  }

  @Test("A page whose token is another one now is loaded again at once, and says what it needs")
  func otherToken() async throws {
    let home = try await PageHome()
    let tab = try await home.browser()
    try await tab.open(home.link)
    // Without those attempts that are made later.
    try await tab.evaluate("window.setTimeout = () => 0")
    try await tab.call("Network.clearBrowserCookies")
    #expect(try await home.daemon.stop() == .exit(0))
    try await home.startAgain()
    try await tab.waitForText("This page needs the link")
    try await home.daemon.stop()
  }
}
