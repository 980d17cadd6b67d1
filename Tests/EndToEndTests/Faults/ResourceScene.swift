// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

/// A daemon that the system gives nothing more, and routers that report meanwhile. What ends is started again, as
/// systemd does.
final class ResourceScene {
  private let broker: TestBroker
  private let relay: Relay
  private let installation: Installation
  private let publisher: TestPublisher
  private let home: ReportingHome
  private var daemon: DaemonProcess
  private var version = 1
  /// How often the daemon ended by itself.
  private(set) var ends = 0
  /// How often it neither worked nor ended.
  private(set) var stalls = 0

  init(routers: Int = 20) async throws {
    broker = try TestBroker()
    relay = try Relay(to: broker.port)
    installation = try Installation(port: relay.port, hold: 0)
    daemon = try await installation.start()
    publisher = try await TestPublisher.start(broker)
    home = try ReportingHome(routers)
    try await publisher.publish(try home.reports(1))
    try await home.stored(1, in: installation)
  }

  /// The daemon may open no file any more, and its connections end.
  func withoutFiles() async throws {
    version += 1
    let words = "raise the limit of open files"
    let before = count(words)
    // Numbers below 3 are taken; those that are open stay so.
    try limit("--nofile=3:")
    relay.hangUp()
    try await eventually("words about open files") { count(words) > before }
    try await publisher.publish(try home.reports(version))
    try limit("--nofile=1024:")
    try await home.stored(version, in: installation, within: .seconds(120))
    try Soak.check(daemon.isRunning, "it ended:\n\(daemon.log)")
  }

  /// The daemon is started, and soon gets no page of memory any more, while it has much to do.
  ///
  /// - Parameter most: bytes that it gets before that, at most.
  func withoutMemory(most: Int) async throws {
    version += 1
    try Soak.check(try await daemon.stop() == .exit(0), "it did not stop:\n\(daemon.log)")
    try await publisher.publish(try home.reports(version))
    daemon = try installation.launch()
    // Anywhere between its start and the end of its work.
    try await Task.sleep(for: .milliseconds(.random(in: 0...150)))
    let status = try? String(contentsOfFile: "/proc/\(daemon.identifier)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmSize:") } ?? ""
    let bytes = (Int(line.filter(\.isNumber)) ?? 0) * 1024 + .random(in: 0...most)
    try limit("--as=\(bytes):", mayBeGone: true)
    // It works with what it has, or ends.
    do {
      try await eventually(within: .seconds(20), "the reports, or the end") {
        guard daemon.isRunning else { return true }
        return try await home.missing(version, in: installation) == 0
      }
    } catch is TimedOut {
      // What stands still, systemd's watchdog ends.
      stalls += 1
      try await daemon.kill9()
    }
    if daemon.isRunning { try limit("--as=unlimited:", mayBeGone: true) }
    if !daemon.isRunning {
      ends += 1
      daemon = try await installation.start()
    }
    try await home.stored(version, in: installation, within: .seconds(120))
    try await installation.ready(daemon)
  }

  func end(_ ledger: Soak.Ledger? = nil) async throws {
    let missing = try await home.missing(version, in: installation)
    ledger?.lose(missing)
    try Soak.check(missing == 0, "\(missing) reports are lost")
    let status = try await installation.json("status")
    try Soak.check(
      status["store"]?["condition"] == "healthy", "the store is not healthy: \(status)")
    try Soak.check(try await daemon.stop() == .exit(0), "it did not stop:\n\(daemon.log)")
    try installation.checkStore()
  }

  private func limit(_ option: String, mayBeGone: Bool = false) throws {
    let arguments = ["--pid", "\(daemon.identifier)", option]
    if mayBeGone {
      _ = try Program.run("prlimit", arguments)
    } else {
      try Program.check("prlimit", arguments)
    }
  }

  private func count(_ words: String) -> Int { daemon.log.components(separatedBy: words).count - 1 }
}
