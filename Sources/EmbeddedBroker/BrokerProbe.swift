// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Asks a broker the shortest question of MQTT: may I come in?
///
/// ```
/// CONNECT  10 len 00 04 'M' 'Q' 'T' 'T' 04 flags keepalive(2)  client id, user name, password
/// CONNACK  20 02 flags code                                    (MQTT 3.1.1, sections 3.1 and 3.2)
/// ```
/// That the login which was just made up is let in proves that the broker has read its files.
enum BrokerProbe {
  static func isReady(port: UInt16, login: (name: String, password: String)?) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(
        descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    var address = sockaddr_in.loopback(port)
    let connected = withUnsafeBytes(of: &address) {
      Glibc.connect(
        descriptor, $0.bindMemory(to: sockaddr.self).baseAddress, socklen_t($0.count))
    }
    guard connected == 0 else { return false }
    let packet = question(login)
    guard send(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL)) == packet.count
    else { return false }
    var answer = [UInt8](repeating: 0xFF, count: 4)
    guard recv(descriptor, &answer, 4, Int32(MSG_WAITALL)) == 4 else { return false }
    let disconnect: [UInt8] = [0xE0, 0]
    _ = send(descriptor, disconnect, disconnect.count, Int32(MSG_NOSIGNAL))
    return answer[0] == 0x20 && answer[3] == 0
  }

  private static func question(_ login: (name: String, password: String)?) -> [UInt8] {
    // Clean session; user name and password.
    let flags: UInt8 = login == nil ? 0x02 : 0xC2
    var body = string("MQTT") + [4, flags, 0, 10] + string("threadkeeper-probe")
    if let login { body += string(login.name) + string(login.password) }
    // Names have at most 200 bytes and passwords are short, so two bytes of length suffice.
    return [0x10, UInt8(body.count & 0x7F) | 0x80, UInt8(body.count >> 7 & 0x7F)] + body
  }

  private static func string(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    return [UInt8(bytes.count >> 8 & 0xFF), UInt8(bytes.count & 0xFF)] + bytes
  }
}
