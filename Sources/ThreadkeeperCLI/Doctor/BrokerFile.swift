// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The settings of a Mosquitto on this machine, as far as this user can read them.
struct BrokerFile: Equatable {
  /// Key to value, the last one of each key.
  private(set) var values: [String: String] = [:]
  private(set) var ports: Set<UInt16> = []

  /// - Parameter text: lines of a key and a value, `#` before comments (mosquitto.conf(5)).
  mutating func add(_ text: String) {
    for line in text.split(separator: "\n") {
      let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
      guard let key = words.first, !key.hasPrefix("#") else { continue }
      values[String(key)] = words.dropFirst().joined(separator: " ")
      if key == "listener" || key == "port", words.count > 1, let port = UInt16(words[1]) {
        ports.insert(port)
      }
    }
  }

  /// Reads `etc/mosquitto/mosquitto.conf` and the files of its `include_dir`.
  ///
  /// - Parameter root: stands for `/`, without a slash at its end.
  /// - Returns: nil where a file cannot be read.
  static func read(root: String) -> BrokerFile? {
    var file = BrokerFile()
    guard let main = text(root + "/etc/mosquitto/mosquitto.conf") else { return nil }
    file.add(main)
    guard let directory = file.values["include_dir"] else { return file }
    let place = root + directory
    let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
    for name in names.sorted() where name.hasSuffix(".conf") {
      guard let more = text("\(place)/\(name)") else { return nil }
      file.add(more)
    }
    return file
  }

  private static func text(_ path: String) -> String? {
    guard let bytes = try? InputFile.read(path, limit: 1 << 20) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether it says where the broker listens; without a listener it is the usual port.
  func listens(on port: UInt16) -> Bool { ports.isEmpty ? port == 1883 : ports.contains(port) }
}
