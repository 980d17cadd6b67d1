// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing
import ThreadDataset
import ThreadNetwork

/// docs/guides/phones.md, from a home whose routers show no credentials to programs that are given them.
@Suite(
  "The credentials of a phone, on the page in Chromium", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: DebianTool.chromium != nil && LocalNetwork.obstacle == nil))
struct BrowserPhonesTests {
  private static let token = "a-token-of-an-administrator-5b1f"

  @Test("A person uses what Home Assistant has, and programs are then given it with consent")
  func life() async throws {
    Recorder.current?.allPublishersAreEnrolled()
    let network = try LocalNetwork()
    let services = try ServicePublisher(network)
    let broker = try TestBroker()
    let port = try UnusedPort.next()
    let installation = try Installation(
      broker, hold: 0, more: "http: {enabled: true, port: \(port), token: \(PageHome.token)}",
      variables: network.environment())
    let home = try ThreadNetwork("MyHome1234")
    let routers = [AdvertisedRouter(1, home), AdvertisedRouter(2, home)]
    for (name, router) in zip(["Hallway hub", "Kitchen speaker"], routers) {
      try services.publish(name, text: router.text)
    }
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    try await audience.until("the routers") { heard in
      routers.allSatisfy { heard.state($0.topic) != nil }
    }
    #expect(try await installation.command("preferred", "set", home.extendedPANID).status == 0)

    let there = try FakeHomeAssistant(token: Self.token)
    there.add(try OperationalDataset(hex: home.hex()), isPreferred: true)
    let key = installation.directory.file("phones.key")
    let line = try await installation.clientKeygen(key)
    let enrolled = try await installation.command(
      "clients", "enroll", "home-assistant", line, "--trust", "signed")
    #expect(enrolled.status == 0, "\(enrolled.error)")
    let agent = try AgentProcess(
      .homeAssistant,
      [
        "--url", there.url, "--key", key, "--daemon", try await installation.daemonLine(),
        "--token-file", try installation.directory.putSecret(Self.token, "token"),
      ], user: "home-assistant", broker: broker, in: installation.directory)

    let tab = try await BrowserTab(
      Browser(try #require(DebianTool.chromium), in: installation.directory))
    try await tab.open("http://127.0.0.1:\(port)/?token=\(PageHome.token)")
    try await tab.waitForText("has the credentials of MyHome1234. Use them?")
    try await tab.waitForText("Kitchen speaker")
    try await tab.pictures("page-credentials")
    let client = THClient(
      configuration: .init(storeDirectory: installation.storePath, confirmConsent: nil))
    #expect(await !client.isPreferredAvailable())
    try await tab.click("Use them")
    try await tab.waitForText("The credentials are used from now on.")
    #expect(await client.isPreferredAvailable())
    try await tab.wait("!document.body.innerText.includes('Its credentials are not here.')")
    try await tab.waitForText("are here now")
    try await tab.pictures("page-credentials-used")
    async let asked = client.preferredCredentials()
    try await tab.click("Approve once")
    #expect(try await asked.activeOperationalDataSet == Data(hex: home.hex()))

    let html = try await tab.evaluate("document.documentElement.outerHTML").text ?? ""
    #expect(agent.end() == .exit(0))
    #expect(try await daemon.stop() == .exit(0))
    var needles = Needles()
    needles.add("the network key", home.networkKey)
    needles.note("the token", Self.token)
    #expect(needles.found(in: html + agent.output + daemon.log) == [])
  }
}
