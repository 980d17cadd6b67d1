// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// The page in a real browser. With `MAKE_SCREENSHOTS=1` the pictures of the documents are made anew.
@Suite(
  "The page in Chromium", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: DebianTool.chromium != nil))
struct BrowserTests {
  private static let takesPictures =
    ProcessInfo.processInfo.environment["MAKE_SCREENSHOTS"] == "1"

  /// What is on the page after some seconds, as markup.
  private func look(
    _ port: UInt16, in directory: TemporaryDirectory, picture: String? = nil, height: Int = 900
  ) throws -> String {
    let chromium = try #require(DebianTool.chromium)
    let arguments = [
      "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
      "--disable-background-networking", "--user-data-dir=\(directory.file("chromium"))",
      "--timeout=8000", "--window-size=1000,\(height)",
    ]
    let url = "http://127.0.0.1:\(port)/"
    let environment = ["LD_LIBRARY_PATH": DebianTool.libraries, "HOME": directory.path]
    if let picture, Self.takesPictures {
      let file = ProjectFiles.root.path + "/docs/images/\(picture).png"
      _ = try Program.run(
        chromium, arguments + ["--screenshot=\(file)", url], environment: environment)
    }
    return try Program.run(chromium, arguments + ["--dump-dom", url], environment: environment)
      .output
  }

  /// A page that shows what is to be on it: the browser may have been slow.
  private func page(
    _ port: UInt16, in directory: TemporaryDirectory, showing text: String, picture: String?,
    height: Int = 900
  ) async throws -> String {
    var page = ""
    try await eventually("the page to show \(text)") {
      page = try look(port, in: directory, picture: picture, height: height)
      return page.contains(text) && page.contains("data-ready=\"yes\"")
    }
    return page
  }

  @Test("It shows a healthy home, a router on another network, and a request for consent")
  func shows() async throws {
    let broker = try TestBroker()
    let port = try UnusedPort.next()
    let installation = try Installation(
      broker, hold: 0, more: "discovery: {mdns: off}\nhttp: {enabled: true, port: \(port)}")
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let hub = BorderRouter(number: 1)
    let attic = BorderRouter(number: 2)
    func announce(_ router: BorderRouter, _ name: String, _ network: ThreadNetwork) async throws {
      try await publisher.publish([
        router.says(
          "announce", ("name", "\"\(name)\""), ("vendor_name", "\"Example\""),
          ("model_name", "\"Hub\""), ("dataset", "\"\(try network.hex())\""))
      ])
    }
    try await announce(hub, "Kitchen", home)
    try await announce(attic, "Attic", home)
    let healthy = try await page(
      port, in: installation.directory, showing: "Attic", picture: "page-healthy")
    #expect(healthy.contains("All is well.") && healthy.contains("preferred</span>"))

    try await announce(attic, "Attic", try ThreadNetwork("attic"))
    let mismatch = try await page(
      port, in: installation.directory, showing: "PreferredNetworkMismatch",
      picture: "page-mismatch", height: 1_100)
    #expect(mismatch.contains("not on the preferred network"))
    #expect(mismatch.contains("What to do: ") && !mismatch.contains("<button"))
    #expect(!mismatch.contains(try home.hex()))

    let asking = Task {
      try await SocketRequest.ask("preferred/get", at: installation.storePath + "/varlink.sock")
    }
    let consent = try await page(
      port, in: installation.directory, showing: " asks for home</h3>", picture: "page-consent",
      height: 1_300)
    #expect(consent.contains("expires "))
    #expect(!consent.contains("<button"), "nobody changes anything without the token")

    try await announce(attic, "<b>Attic</b>", home)
    let markup = try await page(
      port, in: installation.directory, showing: "&lt;b&gt;Attic&lt;/b&gt;", picture: nil)
    #expect(!markup.contains("<b>Attic"))
    #expect(try await daemon.stop() == .exit(0))
    _ = try? await asking.value
    withExtendedLifetime(installation) {}
  }
}
