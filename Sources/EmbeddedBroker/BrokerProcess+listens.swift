// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemThreads

extension BrokerProcess {
  /// Whether it is this process that listens on 127.0.0.1, and not another program that happens to
  /// answer there.
  func listens(on port: UInt16) -> Bool {
    let sockets = Self.listeners(port)
    let directory = "/proc/\(identifier)/fd"
    var buffer = [CChar](repeating: 0, count: 64)
    return DirectoryNames.list(directory).contains { name in
      let length = readlink("\(directory)/\(name)", &buffer, buffer.count)
      guard length > 0 else { return false }
      let target = String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      return sockets.contains(target)
    }
  }

  /// The sockets that listen on a port, in the kernel's notation: `socket:[12345]`.
  private static func listeners(_ port: UInt16) -> Set<String> {
    let digits = String(port, radix: 16, uppercase: true)
    let local = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
    var sockets: Set<String> = []
    for line in (PrivateFile.read("/proc/net/tcp") ?? "").split(separator: "\n") {
      // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode; 0A is LISTEN.
      let fields = line.split(separator: " ")
      if fields.count > 9, fields[1] == local, fields[3] == "0A" {
        sockets.insert("socket:[\(fields[9])]")
      }
    }
    return sockets
  }
}
