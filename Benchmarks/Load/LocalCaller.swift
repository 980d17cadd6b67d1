import Foundation

/// A connection to the local API that waits for each reply. Nothing of the daemon's own client is in the way.
final class LocalCaller {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let isShort = withUnsafeMutableBytes(of: &address.sun_path) { place in
      guard bytes.count < place.count else { return false }
      place.copyBytes(from: bytes)
      return true
    }
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard isShort, code == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
  }

  deinit { close(descriptor) }

  /// Calls a method of an interface below `io.threadkeeper`.
  ///
  /// - Parameter parameters: members of a JSON object.
  func call(_ method: String, _ parameters: String = "") throws -> String {
    let call = #"{"method":"io.threadkeeper.\#(method)","parameters":{\#(parameters)}}"#
    let bytes = Array(call.utf8) + [0]
    guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
    var reply: [UInt8] = []
    while reply.last != 0 {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { throw POSIXError(.ECONNRESET) }
      reply.append(contentsOf: buffer[..<count])
    }
    return String(decoding: reply.dropLast(), as: UTF8.self)
  }
}
