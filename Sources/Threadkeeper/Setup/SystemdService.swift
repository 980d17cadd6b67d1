import FoundationEssentials
import Glibc
import ThreadkeeperSupport

/// A unit of this machine's systemd, which root may start and stop.
struct SystemdService {
  let unit: String

  init(_ unit: String) { self.unit = unit }

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
    (try? ToolProcess(["systemctl", verb, unit], mostOutput: 1 << 16, timeout: .seconds(30)).output(until: nil)) != nil
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

  private func call(_ words: [String]) throws(CommandFailure) {
    do {
      _ = try ToolProcess(["systemctl"] + words, mostOutput: 1 << 16, timeout: .seconds(120), showsErrors: true).output(
        until: nil)
    } catch {
      throw CommandFailure(
        .unavailable, "`systemctl \(words.joined(separator: " "))` \(error)",
        remedy: "look: `journalctl -u \(unit) -n 20`")
    }
  }
}
