import FoundationEssentials
import Glibc
import ThreadkeeperSupport

/// A unit of this machine's systemd, which root may start and stop.
struct SystemdService {
  let unit: String
  /// How systemd is asked.
  private let tool: String

  init(_ unit: String, tool: String = "systemctl") { (self.unit, self.tool) = (unit, tool) }

  /// Whether systemd runs this machine. A root of files elsewhere is no machine.
  static var isHere: Bool {
    let root = ProcessInfo.processInfo.environment[SystemPlaces.rootVariable] ?? ""
    return StoreOwner.isRoot && (root.isEmpty || root == "/") && access("/run/systemd/system", F_OK) == 0
  }

  /// The daemon's own one, where the settings are its settings, and there is such a unit.
  static func daemon(_ place: SetupPlace) -> SystemdService? {
    let service = SystemdService("threadkeeper")
    return place.isService && isHere && service.answers("cat") ? service : nil
  }

  var isActive: Bool { answers("is-active") }

  private func answers(_ verb: String) -> Bool {
    (try? ToolProcess([tool, verb, unit], mostOutput: 1 << 16, timeout: .seconds(30)).output(until: nil)) != nil
  }

  func stop() throws(CommandFailure) { try call(["stop", unit]) }

  /// Now, and at each boot.
  ///
  /// - Parameter isUnitChanged: systemd reads its files first.
  func start(isUnitChanged: Bool) throws(CommandFailure) {
    if isUnitChanged { try call(["daemon-reload"]) }
    try call(["--quiet", "enable", unit])
    try call(["restart", unit])
  }

  /// Not now, and at no boot.
  func disable() throws(CommandFailure) { try call(["--quiet", "disable", "--now", unit]) }

  /// What it has logged first since then; nil where it logs nothing.
  ///
  /// - Parameter start: seconds since 1970.
  func firstLine(since start: Int) async throws -> String? {
    let command = ["journalctl", "-q", "-o", "cat", "-u", unit, "-t", "threadkeeper", "--since", "@\(start)"]
    for _ in 0..<Self.looks {
      let output = try? ToolProcess(command, mostOutput: 1 << 20, timeout: .seconds(30)).output(until: nil)
      if let line = output?.split(separator: UInt8(ascii: "\n")).first {
        return String(decoding: line, as: UTF8.self).printable
      }
      try await Task.sleep(for: .milliseconds(500))
    }
    return nil
  }

  /// Ten seconds: it waits by itself for what is away, and logs that.
  private static let looks = 20

  private func call(_ words: [String]) throws(CommandFailure) {
    do {
      _ = try ToolProcess([tool] + words, mostOutput: 1 << 16, timeout: .seconds(120), showsErrors: true).output(
        until: nil)
    } catch {
      throw CommandFailure(
        .unavailable, "`systemctl \(words.joined(separator: " "))` \(error)",
        remedy: "look: `journalctl -u \(unit) -n 20`")
    }
  }
}
