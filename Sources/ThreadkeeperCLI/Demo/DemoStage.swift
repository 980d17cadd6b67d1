// SPDX-License-Identifier: Apache-2.0

import Bridge
import BridgeProtocol
import EmbeddedBroker
import KeychainCore
import Logging
import MosquittoClient
import ServiceDiscovery
import Settings
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Everything that the demonstration needs, in a temporary directory that goes with it: a broker, a
/// store, the bridge, the status page, and somebody who watches.
struct DemoStage {
  /// Seconds for which a condition must last here; the default of 30 would make a long film.
  static let hold = 2

  let directory: String
  let broker: EmbeddedBroker
  let keychain: Keychain
  let audience: DemoClient
  let timeline: Timeline

  private let bridge: Bridge
  private let page: DemoPage

  init() throws {
    directory = try Self.temporaryDirectory()
    broker = EmbeddedBroker(
      EmbeddedBrokerConfiguration(
        directory: directory + "/broker", persistence: false,
        logins: [
          .init("threadkeeper", role: .daemon), .init("monitor", role: .monitor),
        ] + DemoStory.routers.map { .init($0) }))
    do {
      try broker.start()
      keychain = try Keychain.create(
        at: StoreLocation(directory: directory + "/store"),
        slots: [.keyFile(path: directory + "/store.key")])
      var configuration = BridgeConfiguration(
        version: threadkeeperVersion,
        topics: BaseTopics([.init(name: "home", base: "threadkeeper")]))
      configuration.alertsHold = Self.hold
      // Nothing is looked for: `discover` hands over records.
      configuration.discoversRouters = true
      bridge = try Bridge(
        configuration, connection: Self.connection(broker, user: "threadkeeper"),
        clientID: "demo", keychain: keychain,
        logger: Logger(label: "demo") { _ in SwiftLogNoOpLogHandler() })
    } catch {
      broker.stop()
      try? FileManager.default.removeItem(atPath: directory)
      throw CommandFailure(.unavailable, "\(error)")
    }
    page = DemoPage(
      bridge: bridge, settings: .demonstration(in: directory))
    let timeline = Timeline()
    self.timeline = timeline
    audience = DemoClient(
      Self.connection(broker, user: "monitor"), subscribingTo: ["threadkeeper/#"],
      onMessage: { timeline.tell($0) })
  }

  /// Runs the audience and the bridge; both end with `end`.
  func begin() -> [Task<Void, any Error>] {
    [
      Task { try await audience.run() }, Task { try await bridge.serve() },
      Task { try await page.run() },
    ]
  }

  /// Where a browser opens the page; waits until it is there.
  var link: String? { get async { await page.link } }

  /// Hands over what a search of the local network would have found.
  func discover(_ record: ServiceRecord) {
    bridge.discovery?.receive(.found(record))
    bridge.discovery?.receive(.listed)
  }

  /// Returns when everything that a router says from now on will be heard.
  func ready() async throws {
    try await until("the daemon and the audience to be connected") { [bridge] in
      bridge.monitor.snapshot.intake == .running
        && $0.contains { $0.topic == "threadkeeper/bridge/state" }
    }
  }

  func end(_ running: [Task<Void, any Error>]) async {
    await page.stop()
    audience.stop()
    bridge.stop()
    bridge.discovery?.stop()
    for task in running { _ = await task.result }
    keychain.close()
    broker.stop()
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// A client for one of the routers; it connects when it is first used.
  func connection(user: String) -> MosquittoConfiguration {
    Self.connection(broker, user: user)
  }

  private static func connection(_ broker: EmbeddedBroker, user: String) -> MosquittoConfiguration {
    MosquittoConfiguration(
      host: "127.0.0.1", port: broker.port, clientID: "demo-\(user)", username: user,
      password: broker.password(of: user))
  }

  private static func temporaryDirectory() throws -> String {
    let path =
      FileManager.default.temporaryDirectory.path + "/threadkeeper-demo-\(UUID().uuidString)"
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure(.cannotCreate, "the directory \(path) cannot be made")
    }
    return path
  }
}
