// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// A daemon with its status page and a broker, and what a test of the page does with them.
final class PageHome {
  static let token = "page-token-of-a-test"

  let broker: TestBroker
  let port: UInt16
  let installation: Installation
  let publisher: TestPublisher
  private(set) var daemon: DaemonProcess

  init(hold: Int = 0) async throws {
    broker = try TestBroker()
    port = try UnusedPort.next()
    installation = try Installation(
      broker, hold: hold,
      more: """
        discovery: {mdns: off}
        http: {enabled: true, port: \(port), token: \(Self.token)}
        """)
    daemon = try await installation.start()
    publisher = try await TestPublisher.start(broker)
  }

  var link: String { "http://127.0.0.1:\(port)/?token=\(Self.token)" }

  /// Starts the daemon that a test has stopped.
  func startAgain() async throws { daemon = try await installation.start() }

  func announce(_ router: BorderRouter, _ name: String, _ network: ThreadNetwork) async throws {
    try await publisher.publish([
      router.says(
        "announce", ("name", "\"\(name)\""), ("vendor", "\"Example\""), ("model", "\"Hub\""),
        ("dataset", "\"\(try network.hex())\""))
    ])
  }

  /// A program asks for the preferred network's credentials, until a person has decided.
  func ask() -> Task<Bool, any Error> {
    let socket = installation.socketPath
    return Task { try await SocketRequest.ask("preferred/get", at: socket).error == nil }
  }

  /// The name of the preferred network; nil: none is.
  var preferred: String? {
    get async throws {
      try await installation.json("networks").list.first { $0["preferred"] == true }?[
        "network_name"]?.text
    }
  }

  /// A browser with the page of this home.
  func browser() async throws -> BrowserTab {
    let chromium = try #require(DebianTool.chromium)
    return try await BrowserTab(Browser(chromium, in: installation.directory))
  }
}
