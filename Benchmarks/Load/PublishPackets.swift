import Foundation

/// Finished PUBLISH packets with QoS 1, one after another (MQTT 3.1.1, section 3.3):
///
///     32 | remaining length 1…4 | topic length 2 | topic | packet identifier 2 | payload
struct PublishPackets {
  private(set) var bytes: [UInt8] = []
  private(set) var count = 0

  mutating func add(_ topic: String, _ payload: String) {
    bytes.append(0x32)
    var rest = topic.utf8.count + payload.utf8.count + 4
    repeat {
      bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
      rest >>= 7
    } while rest > 0
    add(UInt16(topic.utf8.count))
    bytes.append(contentsOf: topic.utf8)
    add(UInt16(count % 65_535 + 1))
    bytes.append(contentsOf: payload.utf8)
    count += 1
  }

  private mutating func add(_ number: UInt16) {
    bytes.append(UInt8(number >> 8))
    bytes.append(UInt8(number & 0xFF))
  }

  func write(to path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
}
