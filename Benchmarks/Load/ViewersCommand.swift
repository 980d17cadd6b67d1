import ArgumentParser
import Glibc

/// The process of those who have the page open: they follow its events, and throw away what they read. Prints `ready`
/// when each has read something.
struct ViewersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "viewers", shouldDisplay: false)

  @Argument var port: UInt16
  @Argument var count: Int

  func run() throws {
    var viewers = try (0..<count).map { _ in
      pollfd(
        fd: try Self.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n", port: port), events: Int16(POLLIN),
        revents: 0)
    }
    var waiting = Set(viewers.map(\.fd))
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while !viewers.isEmpty {
      guard poll(&viewers, nfds_t(viewers.count), 60_000) > 0 else { throw ExitCode(1) }
      var ended: Set<Int32> = []
      for viewer in viewers where viewer.revents != 0 {
        guard recv(viewer.fd, &buffer, buffer.count, 0) > 0 else {
          ended.insert(viewer.fd)
          continue
        }
        if waiting.remove(viewer.fd) != nil, waiting.isEmpty { SubscribeCommand.tell("ready") }
      }
      viewers.removeAll { ended.contains($0.fd) }
      for descriptor in ended { close(descriptor) }
    }
    SubscribeCommand.tell("ended")
  }

  /// - Returns: a connection over which this was asked.
  static func send(_ text: String, port: UInt16) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    let request = Array(text.utf8)
    guard code == 0, Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw ExitCode(1)
    }
    return descriptor
  }
}
