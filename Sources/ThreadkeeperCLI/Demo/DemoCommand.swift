// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bridge
import Broker
import FoundationEssentials
import Home
import KeychainCore
import Logging
import ServiceLifecycle
import Settings
import SodiumCrypto
import StatusPage
import ThreadDataset
import ThreadkeeperDaemon

/// `threadkeeper demo`
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Watch the daemon work, with a private broker and simulated border routers.",
    discussion: """
      Begins with a link to the status page. On a terminal the page stays until you press Ctrl-C; otherwise \
      it ends with the story, after less than a minute. Needs the program mosquitto, listens on 127.0.0.1 \
      only, sends nothing on the local network, and leaves nothing behind.

      Example:
        threadkeeper demo
      """)

  func run() async throws {
    let show = DemoShow()
    StopSignals.ignoreOthers()
    var services = ServiceGroupConfiguration(
      services: [
        .init(
          service: show, successTerminationBehavior: .gracefullyShutdownGroup,
          failureTerminationBehavior: .gracefullyShutdownGroup)
      ],
      logger: Logger(label: "threadkeeper.demo") { _ in SwiftLogNoOpLogHandler() })
    StopSignals.stop(&services)
    let group = ServiceGroup(configuration: services)
    do {
      try await group.run()
    } catch is CancellationError {
      throw ThreadkeeperCommand.stopped
    }
  }
}

/// The demonstration as a service: who interrupts it finds everything put away, too.
struct DemoShow: Service {
  func run() async throws {
    let stage = try DemoStage()
    let running = stage.begin()
    do {
      try await cancelWhenGracefulShutdown {
        try await stage.ready()
        try await DemoStory(stage: stage).tell()
        guard StandardStream.output.isTerminal else { return }
        stage.timeline.write("The page stays until you press Ctrl-C.\n")
        // All that was promised is done: Ctrl-C is no interruption now.
        while (try? await Task.sleep(for: .seconds(3_600))) != nil {}
      }
    } catch {
      await stage.end(running)
      throw error
    }
    await stage.end(running)
  }
}

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
    settings.eachHome.alertsHold = DemoStage.hold
    settings.homeAssistant.discovery = .off
    settings.http.port = 0
    settings.http.token = SecretText(PageToken.make())
    return settings
  }
}

/// What is left at the end, counted and looked for, not claimed.
struct DemoSummary {
  let stage: DemoStage
  let keys: [NetworkKey]

  func tell() throws {
    guard let home = stage.home else { return }
    let counts = HomeCounts(home)
    let messages = stage.audience.messages
    let raised = messages.count { $0.isEvent("alert_raised") }
    let resolved = messages.count { $0.isEvent("alert_resolved") }
    let leaks =
      messages.count { message in keys.contains { message.payload.holds($0) } }
      + (try filesHoldingKeys())
    stage.timeline.heading("Summary")
    stage.timeline.write(
      """
        routers            \(counts.routers.listed)
        networks           \(counts.networks)
        credentials        \(counts.credentials), encrypted
        preferred network  \(home.preferred?.dataset.name ?? "none")
        alerts             \(raised) raised, \(resolved) resolved
        network keys found in \(messages.count) published messages and in the store's files: \(leaks)

      """)
    guard leaks == 0 else {
      throw CommandFailure(.software, "a network key was found where none may be")
    }
  }

  private func filesHoldingKeys() throws -> Int {
    let directory = stage.keychain.location.directory
    return try FileManager.default.contentsOfDirectory(atPath: directory).count { name in
      guard let data = FileManager.default.contents(atPath: directory + "/" + name) else {
        return false
      }
      let bytes = Array(data)
      return keys.contains { bytes.holds($0) }
    }
  }
}

extension IncomingMessage {
  fileprivate func isEvent(_ type: String) -> Bool {
    topic.hasSuffix("bridge/event/alert")
      && String(decoding: payload, as: UTF8.self).contains("\"\(type)\"")
  }
}

extension [UInt8] {
  /// Whether a key is in there, as bytes or as hex.
  fileprivate func holds(_ key: NetworkKey) -> Bool {
    let text = Array(key.revealedHex.utf8)
    return contains(key.bytes) || contains(text)
      || contains(Array(key.revealedHex.uppercased().utf8))
  }
}
