// SPDX-License-Identifier: Apache-2.0

/// A control packet as a client sends it, and the answers of a broker (MQTT 5.0 and 3.1.1, chapter
/// 3). Only what the tests need.
package struct FakePacket {
  package enum Kind {
    case connect, subscribe, publish, acknowledgement, ping, disconnect, other
  }

  let header: UInt8
  let body: [UInt8]

  package var kind: Kind {
    switch header >> 4 {
    case 1: .connect
    case 3: .publish
    case 4: .acknowledgement
    case 8: .subscribe
    case 12: .ping
    case 14: .disconnect
    default: .other
    }
  }

  /// The packet identifier at the start of the body.
  package var identifier: UInt16 { number(at: 0) }

  /// As it was sent.
  ///
  /// - Parameter isDuplicate: whether the flag DUP is set beside those that it has (section 3.3.1.1).
  package func bytes(isDuplicate: Bool = false) -> [UInt8] {
    Self.packet(isDuplicate ? header | 8 : header, body)
  }

  /// Takes the first whole packet from the front.
  package static func take(from bytes: inout [UInt8]) -> FakePacket? {
    guard let header = bytes.first else { return nil }
    var length = 0
    var index = 1
    repeat {
      guard index < bytes.count else { return nil }
      length |= Int(bytes[index] & 0x7F) << (7 * (index - 1))
      index += 1
    } while bytes[index - 1] & 0x80 != 0
    guard bytes.count >= index + length else { return nil }
    let packet = FakePacket(header: header, body: Array(bytes[index..<(index + length)]))
    bytes.removeFirst(index + length)
    return packet
  }

  var connect: (isVersion5: Bool, clientID: String, cleanStart: Bool) {
    let isVersion5 = body[6] == 5
    let properties = isVersion5 ? 1 + Int(body[10]) : 0
    return (isVersion5, string(at: 10 + properties), body[7] & 2 != 0)
  }

  /// The first filter of a SUBSCRIBE.
  func filter(isVersion5: Bool) -> String { string(at: isVersion5 ? 3 : 2) }

  var topic: String { string(at: 0) }

  /// 0 for QoS 0.
  package var publishIdentifier: UInt16 {
    header & 6 == 0 ? 0 : number(at: 2 + Int(number(at: 0)))
  }

  private func number(at index: Int) -> UInt16 {
    UInt16(body[index]) << 8 | UInt16(body[index + 1])
  }

  private func string(at index: Int) -> String {
    String(decoding: body[(index + 2)..<(index + 2 + Int(number(at: index)))], as: UTF8.self)
  }

  // MARK: What the broker sends

  static func publish(
    _ topic: String, _ payload: [UInt8], identifier: UInt16, isVersion5: Bool
  ) -> [UInt8] {
    let name = Array(topic.utf8)
    return packet(
      0x32,
      bytes(UInt16(name.count)) + name + bytes(identifier) + (isVersion5 ? [0] : []) + payload)
  }

  static func connectAnswer(
    sessionPresent: Bool, code: UInt8, receiveMaximum: UInt16?, isVersion5: Bool
  ) -> [UInt8] {
    let properties = receiveMaximum.map { [0x21] + bytes($0) } ?? []
    return packet(
      0x20,
      [sessionPresent && code == 0 ? 1 : 0, code]
        + (isVersion5 ? [UInt8(properties.count)] + properties : []))
  }

  static func subscribeAnswer(identifier: UInt16, code: UInt8, isVersion5: Bool) -> [UInt8] {
    packet(0x90, bytes(identifier) + (isVersion5 ? [0] : []) + [code])
  }

  static func acknowledgement(_ identifier: UInt16) -> [UInt8] {
    packet(0x40, bytes(identifier))
  }

  private static func bytes(_ number: UInt16) -> [UInt8] {
    [UInt8(number >> 8), UInt8(number & 0xFF)]
  }

  private static func packet(_ header: UInt8, _ body: [UInt8]) -> [UInt8] {
    var length = body.count
    var lengthBytes: [UInt8] = []
    repeat {
      lengthBytes.append(UInt8(length & 0x7F) | (length > 0x7F ? 0x80 : 0))
      length >>= 7
    } while length > 0
    return [header] + lengthBytes + body
  }
}
