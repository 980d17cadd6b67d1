import Foundation
import TestKit
import Testing
import ThreadDataset

/// From the package's settings to a protected home, as a newcomer gets there. `.ci/test-deb` does what it can of this with
/// the package itself, in a tree without a browser.
@Suite(
  "The first three minutes, with avahi-daemon and Chromium", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: DebianTool.chromium != nil), .enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")")
) struct FirstMinutesTests {
  private static let limit = Duration.seconds(180)

  /// The package's settings, with places and ports of the test's own.
  private func install(_ variables: [String: String]) throws -> Installation {
    let installation = try Installation(port: nil, variables: variables)
    var text = try ProjectFiles.text(of: "config/threadkeeper.yaml")
    for (line, value) in [
      ("\n  port: null\n", "\(try UnusedPort.next())"), ("\n  port: 8423\n", "\(try UnusedPort.next())"),
      ("\n  path: null\n", installation.storePath), ("\n  key_file: null\n", installation.directory.file("store.key")),
    ] {
      try #require(text.ranges(of: line).count == 1, "\(line)")
      let key = line.prefix { $0 != ":" }
      text = text.replacing(line, with: "\(key): \(value)\n")
    }
    try Data(text.utf8).write(to: URL(fileURLWithPath: installation.configuration))
    return installation
  }

  @Test("After setup a home is protected on the page alone, by the code that its router shows, within three minutes")
  func protected() async throws {
    let (network, home, code) = (try LocalNetwork(), try ThreadNetwork("home"), "916371366")
    Recorder.current?.note("the router's code", code)
    let routers = try ReadableRouters(network)
    try routers.start("Kitchen", AdvertisedRouter(1, home, takesPSKc: true), home.hex())
    try routers.show(code, of: "Kitchen", home.hex())
    let installation = try install(network.environment())

    // The package starts its service, and setup starts it again.
    let began = ContinuousClock.now
    let first = try await installation.start()
    #expect(try await installation.run("status").contains("not protected yet; missing: a border router"))
    let setup = try await installation.json("setup", "--yes", "--broker", "embedded", "--open-page")
    let link = try #require(setup["page"]?["by_address"]?.text, "\(setup)")
    #expect(try await first.stop() == .exit(0))
    let daemon = try await installation.start()

    let tab = try await BrowserTab()
    try await tab.open(link)
    func untilDone(_ steps: Int) async throws {
      try await eventually("\(steps) steps") {
        try routers.announce()
        return try await tab.evaluate("known.homes[0].steps.filter(step => !step.remedy).length === \(steps)") == true
      } otherwise: {
        daemon.log
      }
    }
    try await untilDone(1)
    try await tab.click("Yes: home")
    try await untilDone(2)
    try await tab.evaluate("document.querySelector('.code').value = '916 371 366'")
    try await tab.click("Join by code")
    try await untilDone(3)
    try await tab.click("Send a test")
    try await tab.waitForText("This is a test: an alert of threadkeeper has arrived")
    try await tab.click("It arrived")
    try await untilDone(4)
    try await tab.click("Make one")
    try await tab.wait("document.querySelector('#outcome .shown') !== null")
    let shown = try #require(try await tab.evaluate("document.querySelector('#outcome .shown').textContent").text)
    Recorder.current?.note("the recovery code", shown)
    let groups = shown.split(separator: "-")
    try #require(groups.count > 2)
    try await tab.evaluate(
      """
      document.querySelector('#outcome input').focus();
      document.activeElement.value = '\(groups[2])'
      """)
    try await tab.press(.enter)
    try await untilDone(5)
    try await tab.waitForText("Your home's key is safe here. 1 of 1 border routers are on home.")
    #expect(try await tab.evaluate("document.getElementById('verdict').className") == "good", "nothing is left to do")
    let elapsed = ContinuousClock.now - began

    let protection = try await installation.json("status")["protection"]?.list.first
    #expect(protection?["state"] == "protected" && protection?["missing"] == [], "\(protection ?? .null)")
    #expect(try await installation.run("status").contains("protection   complete"))
    #expect(try await installation.run("keys", "list").contains("recovery"))
    print("protected \(elapsed.formatted(.units(allowed: [.seconds], width: .wide))) after the package was installed")
    #expect(elapsed < Self.limit)
    for secret in [code, shown, Hexadecimal.encode(home.networkKey)] { #expect(!daemon.log.contains(secret)) }
    #expect(try await daemon.stop() == .exit(0))
  }
}
