// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// Whether everybody can use the page: on a phone, in the dark, with a screen reader.
@Suite(
  "The page for everybody in Chromium", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: DebianTool.chromium != nil))
struct BrowserAccessTests {
  /// Everything that the page can show: two networks, an alert, a router that is offline, a request for consent.
  private func scene() async throws -> (
    home: PageHome, tab: BrowserTab, asking: Task<Bool, any Error>
  ) {
    let home = try await PageHome()
    let network = try ThreadNetwork("home")
    let attic = BorderRouter(number: 3)
    try await home.announce(BorderRouter(number: 1), "Kitchen", network)
    try await home.announce(
      attic, "Attic with a name as long as a name can be: WWWWWWWWWWWWWWWWWWWW", network)
    try await home.announce(
      BorderRouter(number: 2), "Cellar", try ThreadNetwork("WWWWWWWWWWWWWWWW"))
    try await home.publisher.publish([attic.says("offline")])
    let tab = try await home.browser()
    try await tab.open(home.link)
    for text in ["offline", "PreferredNetworkMismatch", "Forget"] {
      try await tab.waitForText(text)
    }
    // Last, because a request for consent expires, and a browser may take its time to start.
    let asking = home.ask()
    try await tab.waitForText("asks for the credentials of home")
    return (home, tab, asking)
  }

  @Test(
    "On a phone of 360 pixels nothing is wider than the screen, and buttons are as large as a finger"
  )
  func phone() async throws {
    let (home, tab, asking) = try await scene()
    try await tab.resize(width: 360, height: 740, isPhone: true)
    try await tab.wait("innerWidth === 360")
    try await tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    #expect(try await tab.evaluate("document.scrollingElement.scrollWidth") == 360)
    // Apple's and Google's guides have 44 and 48; WCAG 2.2, 2.5.8 has 24.
    let small = try await tab.evaluate(
      "[...document.querySelectorAll('button')].filter(b => b.offsetHeight < 44).map(b => b.textContent)"
    )
    #expect(small.list.isEmpty, "\(small)")
    #expect(try await tab.evaluate("document.querySelectorAll('button').length > 4") == true)
    try await home.daemon.stop()
    _ = try? await asking.value
  }

  @Test("Who wants it dark gets it dark")
  func dark() async throws {
    let (home, tab, asking) = try await scene()
    let back = "getComputedStyle(document.body).backgroundColor"
    #expect(try await tab.evaluate(back) == "rgb(243, 245, 247)")
    try await tab.prefer(colorScheme: "dark")
    try await tab.wait("\(back) === 'rgb(20, 23, 26)'")
    try await home.daemon.stop()
    _ = try? await asking.value
  }

  @Test(
    "axe-core finds no violation: light, dark, on a phone, and after a change",
    .enabled(if: DebianTool.axe != nil))
  func rules() async throws {
    let (home, tab, asking) = try await scene()
    try await tab.evaluate(try String(contentsOfFile: #require(DebianTool.axe), encoding: .utf8))
    func check(_ what: String) async throws {
      // Without those that need a person's judgement, which are listed apart as incomplete.
      let found = try await tab.evaluate(
        """
        axe.run(document, {resultTypes: ["violations"]}).then(result => JSON.stringify({
          passes: result.passes.length,
          violations: result.violations.map(v => v.id + ": " + v.nodes.map(n => n.html).join(" | "))}))
        """)
      let result = try #require(found.text.flatMap { JSON($0) })
      #expect(result["violations"]?.list.isEmpty == true, "\(what): \(result)")
      #expect((result["passes"]?.number ?? 0) > 20, "the rules ran")
    }
    try await check("light")
    try await tab.prefer(colorScheme: "dark")
    try await check("dark")
    try await tab.resize(width: 360, height: 740, isPhone: true)
    try await tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    try await check("phone")
    try await tab.click("Accept")
    try await tab.waitForText("is accepted")
    try await check("with a message")
    // The rules can fail: a button without a name, and text that is too pale.
    try await tab.prefer(colorScheme: "light")
    try await tab.evaluate(
      """
      document.querySelector("main").append(document.createElement("button"));
      document.getElementById("verdict").attributeStyleMap.set("color", "#eee")
      """)
    let found = try await tab.evaluate(
      "axe.run().then(result => result.violations.map(v => v.id).join(' '))")
    for rule in ["button-name", "color-contrast"] {
      #expect(found.text?.contains(rule) == true, "\(found)")
    }
    try await home.daemon.stop()
    _ = try? await asking.value
  }
}
