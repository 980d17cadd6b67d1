// SPDX-License-Identifier: Apache-2.0

import TestKit

/// A `ServiceBrowser` in a process of its own, with the D-Bus daemon of its own environment.
final class BrowserProcess: Sendable {
  struct Missing: Error, CustomStringConvertible {
    let description: String
  }

  private let probe: LineProcess

  /// - Parameters:
  ///   - launcher: has its queries sent in a network, `LocalNetwork.launcher()`.
  ///   - keys: of TXT records, whose values `found` lines show.
  init(
    _ environment: [String: String], launcher: [String] = [], type: String = "_meshcop._udp",
    maximumServices: Int = 200, changesPerMinute: Int = 1_000, listingSeconds: Int = 1,
    querySeconds: Int = 300, keys: [String] = []
  ) throws {
    probe = try LineProcess(
      launcher + [
        ServiceProbe.executable, "browse", type, "\(maximumServices)", "\(changesPerMinute)",
        "\(listingSeconds)", "\(querySeconds)",
      ] + keys, environment: environment)
  }

  /// What it has reported so far: `found`, name, host, port and the keys with their values in hexadecimal; `lost` and
  /// a name; `listed`; `unavailable`, message and remedy. Fields are separated by tabs.
  var updates: [String] { probe.lines }

  var isRunning: Bool { probe.process.isRunning }

  func updates(_ kind: String) -> [String] { updates.filter { $0.hasPrefix(kind) } }

  /// Waits until that has been reported so often.
  func wait(for kind: String, count: Int = 1, within limit: Duration = .seconds(60)) async throws {
    do {
      try await eventually(within: limit) { updates(kind).count >= count }
    } catch {
      throw Missing(
        description: "no \(kind), \(count) times; but \(updates.suffix(20)); running: \(isRunning)")
    }
  }

  func refused() async throws -> Int {
    let before = updates("refused\t").count
    try probe.send("refused")
    try await wait(for: "refused\t", count: before + 1)
    return Int(updates("refused\t").last?.split(separator: "\t").last ?? "") ?? -1
  }

  /// Stops it.
  ///
  /// - Returns: how many milliseconds that took.
  func stop() async throws -> Int {
    try probe.send("stop")
    try await wait(for: "stopped\t")
    return Int(updates("stopped\t").last?.split(separator: "\t").last ?? "") ?? -1
  }
}
