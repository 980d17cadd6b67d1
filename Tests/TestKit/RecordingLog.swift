import Glibc
import Logging
import Synchronization

/// What was logged, a line for each: the message, and the metadata in the order of their keys.
package final class RecordingLog: Sendable {
  private let kept = Mutex<[(line: String, level: Logger.Level)]>([])

  package init() {}

  package var lines: [String] { kept.withLock { $0.map(\.line) } }

  /// The level of each line.
  package var levels: [Logger.Level] { kept.withLock { $0.map(\.level) } }

  package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

  private struct Handler: LogHandler {
    let log: RecordingLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      let line = ([event.message.description] + fields).joined(separator: " ")
      log.kept.withLock { $0.append((line, event.level)) }
    }
  }
}

/// Stands in for a service manager: the socket that `NOTIFY_SOCKET` names.
package final class NoticeReceiver: Sendable {
  private let descriptor: Int32
  /// What the variable says.
  package let address: String

  /// - Parameter address: a path, or `@` and the name of an abstract socket.
  package init(_ address: String) throws {
    self.address = address
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var name = Array(address.utf8)
    if name.first == UInt8(ascii: "@") { name[0] = 0 }
    var place = sockaddr_un()
    place.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: name) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let result = withUnsafePointer(to: place) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    guard result == 0 else { throw SystemFailure(call: "bind", number: errno) }
  }

  deinit { close(descriptor) }

  package struct SystemFailure: Error {
    let call: String
    let number: Int32
  }

  /// The next notice, by lines; nil where none waits.
  package func next() -> [String]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    guard count >= 0 else { return nil }
    return String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
