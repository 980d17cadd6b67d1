// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// What a person changes on the page, in a real browser, is changed in the daemon.
@Suite(
  "The buttons of the page in Chromium", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: DebianTool.chromium != nil))
struct BrowserChangeTests {
  /// Two networks, of which `home` is preferred.
  private func scene() async throws -> (home: PageHome, tab: BrowserTab) {
    let home = try await PageHome()
    try await home.announce(BorderRouter(number: 1), "Kitchen", try ThreadNetwork("home"))
    try await eventually("the preferred network") { try await home.preferred == "home" }
    try await home.announce(BorderRouter(number: 2), "Attic", try ThreadNetwork("other"))
    let tab = try await home.browser()
    try await tab.open(home.link)
    try await tab.waitForText("Attic")
    return (home, tab)
  }

  @Test("Prefer, accept and forget: the daemon has it, and the page shows it")
  func networks() async throws {
    let (home, tab) = try await scene()
    try await tab.click("Accept: other")
    try await tab.waitForText("The network is accepted.")
    try await eventually("the network to be accepted") {
      try await home.installation.json("networks").list.contains {
        $0["network_name"] == "other" && $0["accepted"] == true
      }
    }
    try await tab.click("Prefer: other")
    try await eventually("the other one to be preferred") {
      try await home.preferred == "other"
    }
    // The one that was preferred has its own button now.
    try await tab.evaluate(
      #"document.querySelector('summary[aria-label^="Details: other"]').click()"#)
    try await tab.click("Forget: other")
    try await tab.waitForText("No network is preferred now.")
    #expect(try await home.preferred == nil)
    #expect(
      try await home.installation.json("preferred", "show", "--history").list.first?["network_name"]
        == "other", "it is kept")
    try await tab.click("Prefer: home")
    try await eventually("home to be preferred") { try await home.preferred == "home" }
    #expect(tab.browser.questions.count == 3, "\(tab.browser.questions)")

    let audit = try await home.installation.command("audit")
    #expect(audit.output.contains("the status page"), "\(audit.output)")
    #expect(!audit.output.contains("command of user"), "\(audit.output)")
    try await home.daemon.stop()
  }

  @Test("A router that is gone is forgotten, with its credentials")
  func forgetRouter() async throws {
    let (home, tab) = try await scene()
    let attic = BorderRouter(number: 2)
    try await home.publisher.publish([attic.says("offline")])
    try await tab.click("Forget: Attic")
    try await eventually("the router to be gone") {
      try await home.installation.json("routers").list.count == 1
    }
    #expect(try await home.installation.command("credentials", "get", attic.agent).status != 0)
    try await home.daemon.stop()
  }

  @Test("Credentials that a login shares are shown, and used when a person says so")
  func offered() async throws {
    let home = try await PageHome()
    let network = try ThreadNetwork("home")
    try await home.announce(BorderRouter(number: 1), "Kitchen", network)
    try await eventually("the preferred network") { try await home.preferred == "home" }
    let newer = try network.hex(at: 2, channel: 20)
    try await home.publisher.publish("threadkeeper/in/ha/credentials", #"{"dataset":"\#(newer)"}"#)
    let tab = try await home.browser()
    try await tab.open(home.link)
    try await tab.waitForText("login ha (team ha) has the credentials of home. Use them?")
    try await tab.waitForText("Its credentials are shared by ha.")
    try await tab.click("Use them")
    try await tab.waitForText("The credentials are used from now on.")
    try await tab.wait("document.getElementById('consents').hidden")
    #expect(
      try await home.installation.json("preferred", "show", "--show-secrets")["dataset"]?.text
        == newer)
    try await home.daemon.stop()
  }

  @Test("A program that asks gets its answer when a person approves, and none when one denies")
  func consent() async throws {
    let (home, tab) = try await scene()
    let approved = home.ask()
    try await tab.click("Approve once")
    #expect(try await approved.value)
    try await tab.wait("document.getElementById('consents').hidden")
    let denied = home.ask()
    try await tab.click("Deny")
    #expect(try await !denied.value)
    let past = try await home.installation.command("consent", "list", "--history")
    #expect(past.output.contains("the status page"), "\(past.output)")
    try await home.daemon.stop()
  }

  @Test(
    "The keyboard alone does it: every control in its order, visibly in focus, by Enter and Space")
  func keyboard() async throws {
    let (home, tab) = try await scene()
    let focused =
      "(document.activeElement.getAttribute('aria-label') || document.activeElement.className)"
    let controls = try await tab.evaluate(
      """
      [...document.querySelectorAll('a[href],button,summary')]
        .filter(e => !e.closest('details:not([open]) > :not(summary)'))
        .map(e => e.getAttribute('aria-label') || e.className)
      """
    ).list
    #expect(controls.first == "skip" && controls.count >= 4, "\(controls)")
    for control in controls {
      try await tab.press(.tab)
      #expect(try await tab.evaluate(focused) == control)
      let outline =
        try await tab.evaluate(
          "(s => s.outlineStyle + ' ' + parseFloat(s.outlineWidth))(getComputedStyle(document.activeElement))"
        ).text ?? ""
      #expect(outline == "solid 3", "\(control): \(outline)")
      let isSeen = try await tab.evaluate(
        """
        (box => box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight)
        (document.activeElement.getBoundingClientRect())
        """)
      #expect(isSeen == true, "\(control)")
    }
    try await tab.evaluate(#"document.querySelector('[aria-label^="Accept: other"]').focus()"#)
    try await tab.press(.space)
    // The same button, drawn anew: the focus stays on the network's card or goes to the content.
    try await tab.waitForText("The network is accepted.")
    try await tab.wait("document.activeElement !== document.body")
    try await tab.evaluate(#"document.querySelector('[aria-label^="Details: other"]').focus()"#)
    try await tab.evaluate(
      "known.homes[0].networks.find(item => item.name === 'other').channel = 26; show()")
    #expect(try await tab.evaluate(focused).text?.hasPrefix("Details: other (") == true)
    try await tab.evaluate(#"document.querySelector('[aria-label^="Prefer: other"]').focus()"#)
    try await home.announce(BorderRouter(number: 3), "Cellar", try ThreadNetwork("third"))
    try await tab.waitForText("Cellar")
    #expect(
      try await tab.evaluate(focused).text?.hasPrefix("Prefer: other (") == true,
      "news take the focus from nobody")
    try await tab.press(.enter)
    try await eventually("the other one to be preferred") {
      try await home.preferred == "other"
    }
    try await home.daemon.stop()
  }

  @Test("A button that is pressed stays until it is released, and then the page shows what is new")
  func pressed() async throws {
    let (home, tab) = try await scene()
    // On a busy machine a press takes long.
    try await tab.evaluate(
      "{ const real = setTimeout; window.setTimeout = (run, ms) => real(run, ms ? 600000 : 0) }")
    try await tab.wait("document.querySelector('button[aria-label^=\"Accept: other\"]') !== null")
    try await tab.evaluate(
      "window.old = document.querySelector('button[aria-label^=\"Accept: other\"]')")
    let place = try await tab.place(of: #"button[aria-label^="Accept: other"]"#)
    try await tab.mouse("mousePressed", at: place)
    try await home.publisher.publish([BorderRouter(number: 2).says("offline")])
    try await tab.wait(#"JSON.stringify(known.homes).includes('"online":false')"#)
    #expect(try await tab.evaluate("old.isConnected") == true)
    try await tab.mouse("mouseReleased", at: place)
    try await tab.waitForText("The network is accepted.")
    try await tab.waitForText("offline")
    #expect(try await tab.evaluate("old.isConnected") == false)
    try await home.daemon.stop()
  }

  @Test(
    "The page follows on after a press of something else, one that does not end, and a right one")
  func follows() async throws {
    let (home, tab) = try await scene()
    let network = try ThreadNetwork("third")
    var number = 2
    func expectNews() async throws {
      number += 1
      try await home.announce(BorderRouter(number: number), "Router \(number)", network)
      try await tab.waitForText("Router \(number)")
    }
    let button = #"button[aria-label^="Prefer: other"]"#
    try await tab.mouse("mousePressed", at: tab.place(of: "h1"))
    try await expectNews()
    try await tab.mouse("mouseReleased", at: tab.place(of: "h1"))
    try await tab.mouse("mousePressed", at: tab.place(of: button))
    try await expectNews()
    try await tab.mouse("mouseReleased", at: tab.place(of: "h1"))
    try await tab.mouse("mousePressed", at: tab.place(of: button), button: "right")
    try await expectNews()
    #expect(try await home.preferred == "home", "nothing was clicked")
    try await home.daemon.stop()
  }
}
