// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What the figures were measured on, and how busy it was.
struct Machine: Encodable {
  let processors: Int
  let model: String
  /// Runnable threads on average over the last minute.
  let load: Double

  init() {
    processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    let info = Self.read("/proc/cpuinfo") ?? ""
    let line = info.split(separator: "\n").first { $0.hasPrefix("model name") }
    model =
      line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    load = Double((Self.read("/proc/loadavg") ?? "").split(separator: " ").first ?? "") ?? 0
  }

  var summary: String {
    "\(processors) processors (\(model)), load \(load.formatted(2)) before the measurement"
  }

  /// A file of `/proc`, which has no size to go by.
  static func read(_ path: String) -> String? {
    guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
    return (try? handle.readToEnd()).flatMap { String(decoding: $0, as: UTF8.self) }
  }
}
