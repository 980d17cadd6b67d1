/// The question for the SRV record of a service, as a one-shot query (RFC 6762, sections 5.1 and 6.7), and its answer.
///
/// ```
/// packet    id 2 | flags 2 | questions 2 | answers 2 | 4 | questions | answers, each a record | other records
/// question  name | type 2 | class 2
/// record    name | type 2 | class 2 | lifetime 4 | length 2 | data
/// name      (length 1 | label)… 0; instead of a label and all after it, a pointer: 0b11 and 14 bits of an offset
/// ```
/// RFC 1035, section 4.1. Numbers are big-endian.
struct ServiceQuestion {
  /// RFC 6762, section 17.
  static let maximumPacketBytes = 9_000

  private static let srv = 33
  private static let internetClass = 1

  /// Is repeated in answers.
  let id: UInt16
  /// The labels that follow the instance in a name.
  private let suffix: [[UInt8]]

  /// - Parameter type: with its domain, such as `_meshcop._udp.local`.
  init(id: UInt16, type: String) {
    self.id = id
    suffix = type.split(separator: ".").map { Self.key($0) }
  }

  /// What is the same for names that the DNS takes for the same.
  static func key(_ name: some StringProtocol) -> [UInt8] { TXTRecord.lowercase(name.utf8) }

  /// - Parameter instance: 1 to 63 bytes.
  func packet(for instance: String) -> [UInt8] {
    let name = ([Array(instance.utf8)] + suffix).flatMap { [UInt8(truncatingIfNeeded: $0.count)] + $0 }
    return [UInt8(id >> 8), UInt8(id & 0xFF), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + name + [
      0, 0, UInt8(Self.srv), 0, UInt8(Self.internetClass),
    ]
  }

  /// The keys of the instances whose SRV record a packet brings as an answer to this question; empty when it is
  /// something else, or invalid before the first of them.
  func answers(in packet: [UInt8]) -> Set<[UInt8]> {
    var reader = PacketReader(bytes: packet)
    guard packet.count <= Self.maximumPacketBytes, reader.number() == Int(id), let flags = reader.number(),
      flags & 0x8000 != 0, let questions = reader.number(), let records = reader.number(), reader.skip(4)
    else { return [] }
    for _ in 0..<questions { guard reader.name() != nil, reader.skip(4) else { return [] } }
    var keys: Set<[UInt8]> = []
    for _ in 0..<records {
      guard let name = reader.name(), let kind = reader.number(), let group = reader.number(), reader.skip(4),
        let length = reader.number(), reader.skip(length)
      else { break }
      // Section 10.2: the highest bit of the class is a flag.
      guard kind == Self.srv, group & 0x7FFF == Self.internetClass, let instance = name.first,
        name.dropFirst().elementsEqual(suffix)
      else { continue }
      keys.insert(instance)
    }
    return keys
  }
}

/// Reads a packet from its start. Nil or false: it is not that long, or invalid.
private struct PacketReader {
  /// Names of one packet need one.
  static let maximumPointers = 16
  /// RFC 1035, section 3.1.
  static let maximumNameBytes = 255

  let bytes: [UInt8]
  private var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func number() -> Int? {
    guard skip(2) else { return nil }
    return Int(bytes[position - 2]) << 8 | Int(bytes[position - 1])
  }

  mutating func skip(_ count: Int) -> Bool {
    guard count <= bytes.count - position else { return false }
    position += count
    return true
  }

  /// The labels of a name, in lowercase.
  mutating func name() -> [[UInt8]]? {
    var (labels, size, pointers) = ([[UInt8]](), 1, 0)
    // Where the packet continues after a pointer.
    var following: Int?
    while skip(1) {
      let length = Int(bytes[position - 1])
      switch length {
      case 0:
        position = following ?? position
        return labels
      case 1...63:
        size += 1 + length
        guard size <= Self.maximumNameBytes, skip(length) else { return nil }
        labels.append(TXTRecord.lowercase(bytes[(position - length)..<position]))
      case 0xC0...:
        pointers += 1
        guard pointers <= Self.maximumPointers, skip(1) else { return nil }
        following = following ?? position
        position = (length & 0x3F) << 8 | Int(bytes[position - 1])
        guard position < bytes.count else { return nil }
      default: return nil
      }
    }
    return nil
  }
}
