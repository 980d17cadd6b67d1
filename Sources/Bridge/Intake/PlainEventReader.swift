// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import ThreadDataset

/// Reads the events that nearly all routers send, from bytes to values without a text between: a flat object of ASCII
/// without escapes, whose fields are as they should be. Whatever else comes, right or wrong, it leaves to
/// `InboundEventDecoder`: so it names no error, and never reads anything otherwise.
struct PlainEventReader {
  /// What the event says, but for its dataset.
  private(set) var message: RouterMessage
  private(set) var dataset: [UInt8]?

  private let kind: InboundEventKind
  private var offset = 0
  private var agent: BorderAgentID?
  private var sequence: UInt64?
  private var identifier: String?
  /// Fields that came, one bit each: of one that comes twice, only the decoder knows which counts.
  private var seen: UInt32 = 0

  /// - Returns: nil for what the decoder has to read.
  init?(_ payload: [UInt8], as kind: InboundEventKind) {
    switch kind {
    case .announce: message = RouterMessage(.announce, .router(BorderAgentID(high: 0, low: 0)))
    case .dataset: message = RouterMessage(.dataset, .router(BorderAgentID(high: 0, low: 0)))
    case .heartbeat: message = RouterMessage(.heartbeat, .router(BorderAgentID(high: 0, low: 0)))
    case .leave, .offline, .ssid, .credentials: return nil
    }
    self.kind = kind
    guard payload.count <= InboundLimits.payloadBytes, read(payload.span), let agent,
      kind != .dataset || dataset != nil
    else { return nil }
    message.subject = .router(agent)
    if let sequence {
      message.order = .number(sequence)
    } else if let identifier {
      message.order = .identifier(ExactName(identifier))
    }
  }

  // MARK: Structure

  private mutating func read(_ bytes: Span<UInt8>) -> Bool {
    skipSpace(bytes)
    guard take(UInt8(ascii: "{"), bytes) else { return false }
    repeat {
      skipSpace(bytes)
      guard let name = string(bytes) else { return false }
      skipSpace(bytes)
      guard take(UInt8(ascii: ":"), bytes) else { return false }
      skipSpace(bytes)
      guard member(name, bytes) else { return false }
      skipSpace(bytes)
    } while take(UInt8(ascii: ","), bytes)
    guard take(UInt8(ascii: "}"), bytes) else { return false }
    skipSpace(bytes)
    return offset == bytes.count
  }

  private mutating func member(_ name: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
    guard let field = Field(name, bytes) else { return skipValue(bytes) }
    guard field != .sealed, seen & 1 << field.rawValue == 0 else { return false }
    seen |= 1 << field.rawValue
    if field == .sequence {
      sequence = number(bytes)
      return sequence != nil
    }
    if field == .partition {
      message.thread.partition = number(bytes).flatMap { UInt32(exactly: $0) }
      return message.thread.partition != nil
    }
    guard let value = string(bytes) else { return false }
    return take(field, value, bytes)
  }

  private mutating func take(_ field: Field, _ value: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
    switch field {
    case .agent:
      switch value.count {
      case 16: agent = word(value, bytes).map { BorderAgentID(high: $0, low: 0) }
      case 32:
        let middle = value.lowerBound + 16
        guard let high = word(value.lowerBound..<middle, bytes),
          let low = word(middle..<value.upperBound, bytes)
        else { return false }
        agent = BorderAgentID(high: high, low: low)
      default: break
      }
      return agent?.isZero == false
    case .dataset:
      guard kind != .heartbeat else { return true }
      dataset = hexadecimal(value, bytes)
      return dataset != nil
    case .extendedAddress:
      message.extendedAddress = value.count == 16 ? word(value, bytes) : nil
      return message.extendedAddress != nil
    case .network:
      let network = value.count == 16 ? word(value, bytes) : nil
      message.thread.network = network.map { ExtendedPANID(number: $0) }
      return network != nil && network != 0
    case .threadState:
      message.thread.state = state(value, bytes)
      return message.thread.state != nil
    // It says nothing in a heartbeat.
    case .reason: return kind == .heartbeat
    case .sequence, .partition, .sealed: return false
    case .identifier, .name, .vendor, .model, .accessPoint, .ssid, .previousSSID: break
    }
    guard value.count <= InboundLimits.textCharacters else { return false }
    let text = text(value, bytes)
    switch field {
    case .identifier: identifier = text
    case .name: message.name = text
    case .vendor: message.vendor = text
    case .model: message.model = text
    case .accessPoint: message.accessPoint = text
    case .ssid: message.ssid = text
    default: message.previousSSID = text
    }
    return true
  }

  // MARK: Values

  /// What is between two quotes.
  private mutating func string(_ bytes: Span<UInt8>) -> Range<Int>? {
    guard take(UInt8(ascii: "\""), bytes) else { return nil }
    let start = offset
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\"") {
        defer { offset += 1 }
        return start..<offset
      }
      guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\\") else { return nil }
      offset += 1
    }
    return nil
  }

  /// At most 19 digits, which cannot overflow: nanoseconds since 1970 have as many.
  private mutating func number(_ bytes: Span<UInt8>) -> UInt64? {
    let start = offset
    var value: UInt64 = 0
    while offset < bytes.count, case let digit = bytes[offset] &- 0x30, digit < 10 {
      guard offset - start < 19 else { return nil }
      value = value * 10 + UInt64(digit)
      offset += 1
    }
    guard offset > start, offset - start == 1 || bytes[start] != UInt8(ascii: "0"), isEnd(bytes)
    else { return nil }
    return value
  }

  /// Of a field that nobody knows: a text, a whole number, or a word.
  private mutating func skipValue(_ bytes: Span<UInt8>) -> Bool {
    guard offset < bytes.count else { return false }
    switch bytes[offset] {
    case UInt8(ascii: "\""): return string(bytes) != nil
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return number(bytes) != nil
    default: return ["true", "false", "null"].contains { skip($0, bytes) } && isEnd(bytes)
    }
  }

  private mutating func skip(_ word: StaticString, _ bytes: Span<UInt8>) -> Bool {
    let end = offset + word.utf8CodeUnitCount
    guard end <= bytes.count, Self.isSame(offset..<end, word, bytes) else { return false }
    offset = end
    return true
  }

  /// Whether a number or a word ends here.
  private func isEnd(_ bytes: Span<UInt8>) -> Bool {
    guard offset < bytes.count else { return false }
    let byte = bytes[offset]
    return byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || Self.isSpace(byte)
  }

  private func text(_ range: Range<Int>, _ bytes: Span<UInt8>) -> String {
    bytes.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }

  private func word(_ range: Range<Int>, _ bytes: Span<UInt8>) -> UInt64? {
    var (value, wrong): (UInt64, UInt8) = (0, 0)
    for index in range {
      let digit = Self.digit(bytes[index])
      wrong |= digit
      value = value << 4 | UInt64(digit & 15)
    }
    return wrong > 15 ? nil : value
  }

  private func hexadecimal(_ range: Range<Int>, _ bytes: Span<UInt8>) -> [UInt8]? {
    guard range.count % 2 == 0, range.count <= 2 * OperationalDataset.maximumLength else {
      return nil
    }
    let source = bytes.extracting(range)
    var wrong: UInt8 = 0
    let read = [UInt8](unsafeUninitializedCapacity: range.count / 2) { target, count in
      count = source.count / 2
      for index in 0..<count {
        let high = Self.digit(source[2 * index])
        let low = Self.digit(source[2 * index + 1])
        wrong |= high | low
        target.initializeElement(at: index, to: high &<< 4 | low)
      }
    }
    return wrong > 15 ? nil : read
  }

  private func state(_ range: Range<Int>, _ bytes: Span<UInt8>) -> ThreadState? {
    switch range.count {
    case 5 where Self.isSame(range, "child", bytes): .child
    case 6 where Self.isSame(range, "router", bytes): .router
    case 6 where Self.isSame(range, "leader", bytes): .leader
    case 8 where Self.isSame(range, "disabled", bytes): .disabled
    case 8 where Self.isSame(range, "detached", bytes): .detached
    default: nil
    }
  }

  /// Without a branch. More than 15: no digit.
  @inline(__always) private static func digit(_ character: UInt8) -> UInt8 {
    let decimal = character &- 0x30
    let letter = (character | 0x20) &- 0x61
    return decimal < 10 ? decimal : (letter < 6 ? letter &+ 10 : 0xFF)
  }

  @inline(__always)
  private static func isSame(_ range: Range<Int>, _ word: StaticString, _ bytes: Span<UInt8>)
    -> Bool
  {
    guard range.count == word.utf8CodeUnitCount else { return false }
    for index in 0..<range.count where bytes[range.lowerBound + index] != word.utf8Start[index] {
      return false
    }
    return true
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  private mutating func skipSpace(_ bytes: Span<UInt8>) {
    while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
  }

  private mutating func take(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
    guard offset < bytes.count, bytes[offset] == byte else { return false }
    offset += 1
    return true
  }

  /// A field that is known.
  private enum Field: UInt32 {
    case agent, dataset, extendedAddress, network, threadState, reason, sequence, identifier, name
    case vendor, model, accessPoint, ssid, previousSSID, partition, sealed

    init?(_ name: Range<Int>, _ bytes: Span<UInt8>) {
      let found: (Field, StaticString)? =
        switch name.count {
        case 2: (.identifier, "id")
        case 3: (.sequence, "seq")
        case 4: bytes[name.lowerBound] == UInt8(ascii: "n") ? (.name, "name") : (.ssid, "ssid")
        case 5: (.model, "model")
        case 6:
          switch bytes[name.lowerBound] {
          case UInt8(ascii: "v"): (.vendor, "vendor")
          case UInt8(ascii: "r"): (.reason, "reason")
          default: (.sealed, "sealed")
          }
        case 7: (.dataset, "dataset")
        case 10: (.network, "ext_pan_id")
        case 11: (.extendedAddress, "ext_address")
        case 12:
          switch bytes[name.lowerBound] {
          case UInt8(ascii: "a"): (.accessPoint, "access_point")
          case UInt8(ascii: "p"): (.partition, "partition_id")
          default: (.threadState, "thread_state")
          }
        case 13: (.previousSSID, "previous_ssid")
        case 15: (.agent, "border_agent_id")
        default: nil
        }
      guard let (field, word) = found, PlainEventReader.isSame(name, word, bytes) else {
        return nil
      }
      self = field
    }
  }
}
