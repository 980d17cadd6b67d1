import Foundation
import TestKit
import Testing

/// A daemon that the system gives nothing more, and routers that report meanwhile. What ends is started again, as
/// systemd does.
private final class ResourceScene {
  private let scene: RelayedHome
  private let manager: NoticeReceiver
  private var daemon: DaemonProcess
  private var version = 1
  /// How often the daemon ended by itself.
  private(set) var ends = 0
  /// How often it neither worked nor ended, and was killed; and how often of these before it was ready.
  private(set) var kills = 0
  private(set) var killsBeforeReady = 0

  private var installation: Installation { scene.installation }

  init(routers: Int = 20) async throws {
    manager = try NoticeReceiver("@threadkeeper-test-\(UInt64.random(in: 0 ... .max))")
    // Swift's report of a crash needs memory too, and stands still without.
    scene = try await .start(
      routers: routers, variables: ["NOTIFY_SOCKET": manager.address, "SWIFT_BACKTRACE": "enable=no"])
    daemon = scene.daemon
  }

  /// The daemon may open no file any more, and its connections end. Its log and its status, as `systemctl status` shows
  /// it, say what to do.
  func withoutFiles() async throws {
    version += 1
    let words = "raise the limit of open files"
    let before = count(words)
    // Numbers below 3 are taken; those that are open stay so.
    try limit("--nofile=3:")
    _ = notices()
    scene.relay.hangUp()
    try await eventually("words about open files in the log") { count(words) > before }
    var notices = ""
    try await eventually("words about open files in the status") {
      notices += self.notices()
      return notices.contains(words)
    }
    try await scene.publisher.publish(try scene.home.reports(version))
    try limit("--nofile=1024:")
    try await scene.home.stored(version, in: installation, within: .seconds(120))
    try await eventually("the status of a daemon that is connected") { self.notices().contains("STATUS=Connected") }
    try Soak.check(daemon.isRunning, "it ended:\n\(daemon.log)")
  }

  /// The daemon is started, and gets less memory than it had before, while it has much to do.
  ///
  /// - Parameters:
  ///   - share: of the address space that it had.
  ///   - delay: after its start; at 0 it certainly needs more.
  func withoutMemory(share: Double, after delay: Duration = .zero) async throws {
    version += 1
    let bytes = Int(Double(try addressSpace()) * share)
    try Soak.check(try await daemon.stop() == .exit(0), "it did not stop:\n\(daemon.log)")
    try await scene.publisher.publish(try scene.home.reports(version))
    _ = notices()
    daemon = try installation.launch()
    try await Task.sleep(for: delay)
    try limit("--as=\(bytes):")
    var (isReady, standsStill) = (false, false)
    let end = ContinuousClock.now + .seconds(15)
    // It works with what it has, or ends.
    try await eventually("the reports, or the end") {
      guard daemon.isRunning else { return true }
      isReady = isReady || notices().contains("READY=1")
      if try await scene.home.missing(version, in: installation) == 0 { return true }
      // Not after so many looks: a command waits for a daemon that stands still.
      standsStill = ContinuousClock.now >= end
      return standsStill
    }
    let isKilled = standsStill && daemon.isRunning
    if isKilled {
      // systemd ends it by `TimeoutStartSec=`, later by `WatchdogSec=`.
      kills += 1
      killsBeforeReady += isReady ? 0 : 1
      try await daemon.kill9()
    }
    try limit("--as=unlimited:")
    if !daemon.isRunning {
      ends += isKilled ? 0 : 1
      daemon = try await installation.start()
    }
    try await scene.home.stored(version, in: installation, within: .seconds(120))
    try await installation.ready(daemon)
  }

  func end(_ ledger: Soak.Ledger? = nil) async throws {
    try await scene.check(version, ledger)
    try await installation.checkStop(daemon)
  }

  /// All that the service manager has received since the last call.
  private func notices() -> String {
    var lines: [String] = []
    while let more = manager.next() { lines += more }
    return lines.joined(separator: "\n")
  }

  /// Bytes of address space that it has had.
  private func addressSpace() throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(daemon.identifier)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmPeak:") } ?? ""
    let kilobytes = Int(line.filter(\.isNumber)) ?? 0
    try Soak.check(kilobytes > 0, "its address space is not known:\n\(status)")
    return kilobytes * 1024
  }

  /// Only a daemon that has ended need not have the limit.
  private func limit(_ option: String) throws {
    let result = try Program.run("prlimit", ["--pid", "\(daemon.identifier)", option])
    try Soak.check(result.status == 0 || !daemon.isRunning, "prlimit \(option) ended with: \(result.output)")
  }

  private func count(_ words: String) -> Int { daemon.log.components(separatedBy: words).count - 1 }
}

@Suite("A system that gives the daemon nothing more", .inTurns, .timeLimit(.minutes(30))) struct ResourceTests {
  @Test("Without open files the daemon says so, and is connected again when there are some") func files() async throws {
    let scene = try await ResourceScene()
    try await scene.withoutFiles()
    try await scene.end()
  }

  @Test("A daemon that gets a part of the memory that it needs ends, or is killed, and loses nothing") func memory()
    async throws
  {
    let scene = try await ResourceScene(routers: 200)
    // It may have what it needs before it gets less.
    for share in [0.25, 0.2, 0.15, 0.1, 0.05] where scene.ends + scene.kills == 0 {
      try await scene.withoutMemory(share: share)
    }
    #expect(scene.ends + scene.kills == 1, "it had enough")
    try await scene.end()
  }
}

@Suite("A system that gives nothing more, again and again", .serialized) struct ResourceSoakTests {
  @Test("Without open files", .enabled(if: Soak.files.isWanted, "`make soak` runs it")) func soakFiles() async throws {
    try await Soak.files.measure { ledger in
      // A daemon whose connections end again and again waits longer and longer.
      for _ in 1...3 {
        let scene = try await ResourceScene()
        for _ in 1...3 {
          try await scene.withoutFiles()
          ledger.round()
        }
        try await scene.end(ledger)
      }
      ledger.name("status and log: \"raise the limit of open files\"")
    }
  }

  @Test("Without memory", .enabled(if: Soak.memory.isWanted, "`make soak` runs it")) func soakMemory() async throws {
    try await Soak.memory.measure { ledger in
      let rounds = 12
      let scene = try await ResourceScene(routers: 500)
      for round in 1...rounds {
        // From far too little to nearly enough, at first at once, then anywhere until the end of its work.
        try await scene.withoutMemory(
          share: Double(round) / Double(rounds + 1), after: .milliseconds(round <= 4 ? 0 : .random(in: 0...150)))
        ledger.round()
      }
      try Soak.check(scene.ends > 1, "it had enough in most of \(rounds) rounds")
      ledger.name(
        "its end, \(scene.ends) times; killed \(scene.kills) times, \(scene.killsBeforeReady) of them at the start")
      try await scene.end(ledger)
    }
  }
}
