// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import Logging
import ServiceLifecycle
import Settings
import StatusPage
import ThreadkeeperDaemon

/// The status page of the demonstration, on a free port of this machine, with a token of its own.
struct DemoPage: Sendable {
  private let group: ServiceGroup
  private let ports: AsyncStream<Int>
  private let settings: Settings

  init(bridge: Bridge, settings: Settings) {
    self.settings = settings
    let logger = Logger(label: "demo") { _ in SwiftLogNoOpLogHandler() }
    let (ports, listening) = AsyncStream.makeStream(of: Int.self)
    self.ports = ports
    let page = PageServer(
      OperationContext(settings, bridge: bridge, logger: logger),
      listening: { listening.yield($0) })
    group = ServiceGroup(services: page.map { [$0] } ?? [], logger: logger)
  }

  /// Runs until `stop`.
  func run() async throws { try await group.run() }

  func stop() async { await group.triggerGracefulShutdown() }

  /// The link with the token, when the page can be reached; waits for that.
  var link: String? {
    get async {
      var ports = ports.makeAsyncIterator()
      guard let port = await ports.next(), let token = settings.http.token else { return nil }
      var http = settings.http
      http.port = UInt16(clamping: port)
      return PageToken.link(http, token: token.revealed)
    }
  }
}

extension Settings {
  /// Those of a demonstration: a store in its own directory, and the page on any free port.
  static func demonstration(in directory: String) -> Settings {
    var settings = Settings(stateDirectory: directory)
    settings.http.port = 0
    settings.http.token = SecretText(PageToken.make())
    return settings
  }
}
