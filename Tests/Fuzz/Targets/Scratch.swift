import Foundation

/// A directory for this process, in `TMPDIR` or else in memory; it goes when the process ends, but not when it crashes.
struct Scratch: Sendable {
  static let shared = Result { try Scratch() }

  let path: String

  private init() throws {
    let places = [ProcessInfo.processInfo.environment["TMPDIR"], "/dev/shm"].compactMap { $0 }
    let place = places.first { FileManager.default.isWritableFile(atPath: $0) } ?? "/tmp"
    path = "\(place)/threadkeeper-fuzz-\(ProcessInfo.processInfo.processIdentifier)"
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    atexit { if let scratch = try? Scratch.shared.get() { scratch.remove() } }
  }

  private func remove() { try? FileManager.default.removeItem(atPath: path) }
}
