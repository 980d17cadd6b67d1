import Broker

/// Messages for the broker as one row of the store. Each has QoS 1.
///
/// ```
/// flags         1 byte: 1 retained, 2 expires, 4 the payload of the one before
/// topic         2 bytes for its length, the lower one first; UTF-8
/// expiry        4 bytes, seconds; where it expires
/// payload       4 bytes for its length; unless it is that of the one before
/// ```
struct OutboxRow {
  private enum Flag {
    static let retained: UInt8 = 1
    static let expires: UInt8 = 2
    static let repeated: UInt8 = 4
  }

  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(1_024) }

  mutating func append(_ topic: String, _ payload: [UInt8], isRetained: Bool = false, expiry: UInt32? = nil) {
    let flags = (isRetained ? Flag.retained : 0) | (expiry == nil ? 0 : Flag.expires)
    begin(flags, topic)
    if let expiry { append(UInt64(expiry), bytes: 4) }
    append(UInt64(payload.count), bytes: 4)
    bytes += payload
  }

  /// The payload of the last one, not retained, on another topic.
  mutating func appendAgain(_ topic: String) { begin(Flag.repeated, topic) }

  private mutating func begin(_ flags: UInt8, _ topic: String) {
    bytes.append(flags)
    append(UInt64(topic.utf8.count), bytes: 2)
    bytes += topic.utf8
  }

  private mutating func append(_ number: UInt64, bytes count: Int) {
    for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
  }

  /// - Returns: nil for what `append` cannot have written.
  static func publications(_ bytes: [UInt8]) -> [Publication]? {
    var publications: [Publication] = []
    var rest = bytes[...]
    func number(_ count: Int) -> Int? {
      guard rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    func take(_ count: Int) -> ArraySlice<UInt8>? {
      guard rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
    while let flags = rest.popFirst() {
      guard flags < 8, let topic = number(2).flatMap(take) else { return nil }
      var expiry: UInt32?
      if flags & Flag.expires != 0 {
        guard let seconds = number(4) else { return nil }
        expiry = UInt32(seconds)
      }
      let payload: [UInt8]?
      if flags & Flag.repeated != 0 {
        payload = publications.last?.payload
      } else {
        payload = number(4).flatMap(take).map(Array.init)
      }
      guard let payload else { return nil }
      publications.append(
        Publication(
          topic: String(decoding: topic, as: UTF8.self), payload: payload, retain: flags & Flag.retained != 0,
          messageExpiry: expiry))
    }
    return publications
  }
}
