import Broker
import Foundation

/// Ports of this machine, and what answers there.
enum FreePort {
  struct NoneLeft: Error {}

  static func next() throws -> UInt16 {
    for port in UInt16.random(in: 20_000..<29_000)..<30_000 where LoopbackPort.isFree(port) { return port }
    throw NoneLeft()
  }

  /// Bytes of the answer to an HTTP request.
  static func answer(to request: String, port: UInt16) throws -> Int {
    let descriptor = try ViewersCommand.send(request, port: port)
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var total = 0
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return total }
      total += count
    }
  }
}
