import Foundation
import TestKit
import Testing
import ThreadDataset
import ThreadNetwork

/// What a person changes on the page, in a real browser, is changed in the daemon.
@Suite(
  "The buttons of the page in Chromium", .inTurns, .timeLimit(.minutes(30)), .enabled(if: DebianTool.chromium != nil))
struct BrowserChangeTests {
  /// Two networks, of which the given one is preferred.
  ///
  /// - Parameter variables: with some, border routers are looked for.
  private func scene(_ network: ThreadNetwork, variables: [String: String] = [:]) async throws -> (
    home: RunningHome, tab: BrowserTab
  ) {
    let home = try await RunningHome(hasPage: true, variables: variables)
    try await home.announce(1, "Kitchen", network)
    try await eventually("the preferred network") { try await home.preferred == "home" }
    try await home.announce(2, "Attic", try ThreadNetwork("other"))
    let tab = try await home.tab()
    try await tab.waitForText("Attic")
    return (home, tab)
  }

  @Test("What is pressed is done by the daemon, the page shows it, and the audit names it") func buttons() async throws
  {
    let network = try ThreadNetwork("home")
    let (home, tab) = try await scene(network)
    let installation = home.installation
    func untilPreferred(_ name: String) async throws {
      try await eventually("\(name) to be preferred") { try await home.preferred == name }
    }
    try await tab.click("It's fine there: other")
    try await tab.waitForText("The network is accepted, and raises no alert.")
    #expect(
      try await installation.json("networks").list.contains { $0["network_name"] == "other" && $0["accepted"] == true })
    try await tab.click("Prefer: other")
    try await untilPreferred("other")
    // The one that was preferred has its own button now.
    try await tab.evaluate(#"document.querySelector('summary[aria-label^="Details: other"]').click()"#)
    try await tab.click("Forget: other")
    try await tab.waitForText("No network is preferred now.")
    #expect(try await home.preferred == nil)
    #expect(
      try await installation.json("preferred", "show", "--history").list.first?["network_name"] == "other", "it is kept"
    )
    // By the step, which is one question already.
    try await tab.click("Yes: home")
    try await untilPreferred("home")
    #expect(tab.questions.count == 2, "\(tab.questions)")

    // A program asks for credentials.
    let asking = home.ask()
    try await tab.click("Approve once")
    #expect(try await asking.value)
    try await tab.wait("document.getElementById('consents').hidden")

    // A login shares credentials.
    let newer = try network.hex(at: 2, channel: 20)
    try await home.publisher.publish("threadkeeper/in/ha/credentials", #"{"dataset":"\#(newer)"}"#)
    try await tab.waitForText("Login ha (team ha) has the credentials of home. Use them?")
    try await tab.waitForText("Its credentials are shared by the login ha, read")
    try await tab.click("Use them")
    try await tab.waitForText("The credentials are used from now on.")
    try await tab.wait("document.getElementById('consents').hidden")
    #expect(try await installation.json("preferred", "show", "--show-secrets")["dataset"]?.text == newer)

    // A router is gone.
    let attic = BorderRouter(number: 2)
    try await home.publish(attic.says("offline"))
    try await tab.click("Forget: Attic")
    try await eventually("the router to be gone") { try await installation.status()["routers"] == 1 }
    #expect(try await installation.command("credentials", "get", attic.agent).status != 0)

    for listed in [["audit"], ["consent", "list", "--history"]] {
      let output = try await installation.run(listed)
      #expect(output.contains("the status page"), "\(output)")
      #expect(!output.contains("command of user"), "\(output)")
    }
    try await home.stop()
  }

  @Test("A button that is pressed stays until it is released, and then the page shows what is new") func pressed()
    async throws
  {
    let (home, tab) = try await scene(try ThreadNetwork("home"))
    let third = try ThreadNetwork("third")
    let prefer = #"button[aria-label^="Prefer: other"]"#

    // The page follows on after a press of something else, one that does not end, and a right one.
    var number = 2
    func expectNews() async throws {
      number += 1
      try await home.announce(number, "Router \(number)", third)
      try await tab.waitForText("Router \(number)")
    }
    for (place, isReleased, button) in [("h1", true, "left"), (prefer, true, "left"), (prefer, false, "right")] {
      try await tab.mouse("mousePressed", at: tab.place(of: place), button: button)
      try await expectNews()
      if isReleased { try await tab.mouse("mouseReleased", at: tab.place(of: "h1")) }
    }
    #expect(try await home.preferred == "home", "nothing was clicked")

    // On a busy machine a press takes long.
    try await tab.open(home.link)
    try await tab.evaluate("{ const real = setTimeout; window.setTimeout = (run, ms) => real(run, ms ? 600000 : 0) }")
    let accept = BrowserTab.button("It's fine there: other")
    try await tab.wait("document.querySelector('\(accept)') !== null")
    try await tab.evaluate("window.old = document.querySelector('\(accept)')")
    let place = try await tab.place(of: accept)
    try await tab.mouse("mousePressed", at: place)
    try await home.publish(BorderRouter(number: 2).says("offline"))
    try await tab.wait(#"JSON.stringify(known.homes).includes('"online":false')"#)
    #expect(try await tab.evaluate("old.isConnected") == true)
    try await tab.mouse("mouseReleased", at: place)
    try await tab.waitForText("The network is accepted, and raises no alert.")
    try await tab.waitForText("offline")
    #expect(try await tab.evaluate("old.isConnected") == false)
    try await home.stop()
  }

  @Test("The keyboard alone does it: every control in its order, visibly in focus, by Enter and Space") func keyboard()
    async throws
  {
    // They are looked for, so there is the field for a code, and the system's D-Bus is missing.
    let (home, tab) = try await scene(
      try ThreadNetwork("home"), variables: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"])
    // Nothing moves any more, then.
    try await tab.wait("known.health.some(part => part.name === 'discovery' && part.state === 'bad')")
    let focused = "(document.activeElement.getAttribute('aria-label') || document.activeElement.className)"
    func focus(_ label: String) async throws {
      let escaped = label.replacing("'", with: #"\\27 "#)
      try await tab.evaluate(#"document.querySelector('[aria-label^="\#(escaped)"]').focus()"#)
    }
    let controls = try await tab.evaluate(
      """
      [...document.querySelectorAll('a[href],button,input,summary')]
        .filter(e => !e.closest('[hidden], details:not([open]) > :not(summary)'))
        .map(e => e.getAttribute('aria-label') || e.className)
      """
    ).list
    #expect(controls.first == "skip" && controls.count >= 4, "\(controls)")
    for control in controls {
      try await tab.press(.tab)
      #expect(try await tab.evaluate(focused) == control)
      let outline = try await tab.evaluate(
        "(s => s.outlineStyle + ' ' + parseFloat(s.outlineWidth))(getComputedStyle(document.activeElement))")
      #expect(outline == "solid 3", "\(control): \(outline)")
      // Pages are scrolled by whole pixels.
      let isSeen = try await tab.evaluate(
        """
        (box => box.left >= 0 && box.top >= 0 && box.right < innerWidth + 1 && box.bottom < innerHeight + 1)
        (document.activeElement.getBoundingClientRect())
        """)
      #expect(isSeen == true, "\(control)")
    }
    try await focus("It's fine there: other")
    try await tab.press(.space)
    // The same button, drawn anew: the focus stays on the network's card or goes to the content.
    try await tab.waitForText("The network is accepted, and raises no alert.")
    try await tab.wait("document.activeElement !== document.body")
    try await focus("Details: other")
    try await tab.evaluate("known.homes[0].networks.find(item => item.name === 'other').channel = 26; show()")
    #expect(try await tab.evaluate(focused).text?.hasPrefix("Details: other (") == true)
    try await focus("Prefer: other")
    try await home.announce(3, "Cellar", try ThreadNetwork("third"))
    try await tab.waitForText("Cellar")
    #expect(
      try await tab.evaluate(focused).text?.hasPrefix("Prefer: other (") == true, "news take the focus from nobody")
    try await tab.press(.enter)
    try await eventually("the other one to be preferred") { try await home.preferred == "other" }
    try await tab.evaluate(
      """
      document.querySelector('#join details').open = true;
      document.querySelector('.code').focus(); document.activeElement.value = '123 456-789'
      """)
    try await tab.press(.enter)
    try await tab.waitForText("probably mistyped")
    #expect(try await tab.evaluate("/456/.test(document.getElementById('outcome').outerHTML)") == false)
    try await focus("Try it all the same")
    try await tab.press(.enter)
    try await tab.wait("document.querySelector('#outcome').textContent.includes('D-Bus')")
    try await home.stop()
  }

  /// docs/guides/phones.md, from a home whose routers show no credentials to programs that are given them.
  @Test(
    "A person uses what Home Assistant has, and programs are then given it with consent",
    .enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")")) func phones() async throws
  {
    Recorder.current?.allPublishersAreEnrolled()
    let local = try LocalNetwork()
    let services = try ServicePublisher(local)
    let network = try ThreadNetwork("MyHome1234")
    for (number, name) in [(UInt8(1), "Hallway hub"), (2, "Kitchen speaker")] {
      try services.publish(name, text: AdvertisedRouter(number, network).text)
    }
    let home = try await RunningHome(hasPage: true, variables: local.environment())
    let installation = home.installation
    try await home.until("the routers") { heard in
      [1, 2].allSatisfy { heard.state(AdvertisedRouter($0, network).topic) != nil }
    }
    try await installation.run("preferred", "set", network.extendedPANID)

    let token = "a-token-of-an-administrator-5b1f"
    let there = try FakeHomeAssistant(token: token)
    there.add(try OperationalDataset(hex: network.hex()), isPreferred: true)
    let key = try await installation.enrolledKey(of: "home-assistant")
    let agent = try AgentProcess(
      .homeAssistant,
      [
        "--url", there.url, "--key", key, "--daemon", try await installation.daemonLine(), "--token-file",
        try installation.directory.putSecret(token, "token"),
      ], user: "home-assistant", broker: home.broker, in: installation.directory)

    let tab = try await home.tab()
    try await tab.waitForText("has the credentials of MyHome1234. Use them?")
    try await tab.waitForText("Kitchen speaker")
    try await tab.takePicture("page-credentials")
    let client = THClient(configuration: .init(storeDirectory: installation.storePath, confirmConsent: nil))
    #expect(await !client.isPreferredAvailable())
    try await tab.click("Use them")
    try await tab.waitForText("The credentials are used from now on.")
    #expect(await client.isPreferredAvailable())
    try await tab.wait("!document.body.innerText.includes('Its credentials are not here.')")
    try await tab.waitForText("are here now")
    async let asked = client.preferredCredentials()
    try await tab.click("Approve once")
    #expect(try await asked.activeOperationalDataSet == Data(hex: network.hex()))

    let html = try await tab.evaluate("document.documentElement.outerHTML").text ?? ""
    #expect(agent.end() == .exit(0))
    try await home.stop()
    var needles = Needles()
    needles.add(network)
    needles.note("the token", token)
    #expect(needles.found(in: html + agent.output + home.daemon.log) == [])
  }
}
