// Public to be inlined across targets only; no product has it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import ThreadkeeperSupport

/// A message that is read: it holds its values.
public protocol WireMessage: WireObject {
  /// Without any value.
  init()
}

/// What a value is in JSON.
public enum WireType: Hashable, Sendable, CustomStringConvertible {
  case text, bool, object, list
  case number(bits: Int)

  public var description: String {
    switch self {
    case .text: "a text"
    case .bool: "true or false"
    case .object: "an object"
    case .list: "a list"
    case .number(let bits): "a whole number from 0 to 2^\(bits)-1"
    }
  }
}

/// Why bytes are not a message, and where.
public struct WireProblem: Error, Hashable {
  public enum Reason: Hashable, Sendable {
    case json(JSONFlaw.Reason)
    case notAnObject
    /// The field is not there.
    case missing
    case wrongType(WireType)
    /// The text has half of a surrogate pair.
    case unpairedSurrogate
    /// The field's form does not allow the value.
    case badValue
  }

  public let reason: Reason
  public let field: String?
  /// Bytes from the start of the message; nil where something is missing.
  public let offset: Int?

  // Written to be inlined.
  @usableFromInline init(reason: Reason, field: String?, offset: Int?) {
    (self.reason, self.field, self.offset) = (reason, field, offset)
  }
}

/// How far a field of a message that is read counts.
public enum WireUse: Sendable {
  case counts
  /// It says nothing in this message, but must be of its type.
  case typeOnly
  /// Of another type it counts as absent.
  case anyType
}

/// Gives the fields of a message their values, from JSON of somebody who is not trusted. Fields that the message does
/// not declare are ignored. Of several with one name, the first counts, but for `null` unless `countsNull`.
public struct WireReader: WireCoder {
  /// Objects and arrays within each other, where no message says less.
  public static let nesting = 32

  @usableFromInline let members: [JSONMember]
  @usableFromInline let start: UnsafePointer<UInt8>?
  /// All members before it were asked for: most senders keep our order.
  @usableFromInline var first = 0
  /// Whether a `null` is the first of its name, so that what follows does not count.
  public var countsNull = false
  /// In the order of the fields.
  public private(set) var problems: [WireProblem] = []

  @usableFromInline init(_ members: [JSONMember], of bytes: UnsafeBufferPointer<UInt8>) {
    self.members = members
    start = bytes.baseAddress
  }

  /// - Parameters:
  ///   - bytes: the caller limits their number.
  ///   - depth: the most objects and arrays within each other.
  ///   - body: reads a message; the reader is valid as long.
  /// - Returns: nil for what is no object.
  @inlinable public static func read<Result>(_ bytes: [UInt8], depth: Int, _ body: (inout WireReader) -> Result)
    throws(JSONFlaw) -> Result?
  {
    try bytes.withUnsafeBufferPointer { bytes throws(JSONFlaw) in
      guard let members = try UntrustedJSON.members(of: bytes, depth: depth) else { return nil }
      var reader = WireReader(members, of: bytes)
      return body(&reader)
    }
  }

  @inlinable public mutating func field<Value: WireReadable>(
    _ name: StaticString, _ value: inout Value?, _ form: WireForm?, _ use: WireUse
  ) {
    var index = first
    while index < members.count {
      defer { index += 1 }
      guard name ~= members[index].name else { continue }
      if index == first { first += 1 }
      if case .null = members[index].value {
        if countsNull { return }
        continue
      }
      if let read = Value.read(members[index], form) {
        if use != .typeOnly { value = read }
        return
      }
      if note(index, name, Value.type, use) { return }
    }
  }

  @inlinable public mutating func needed<Value: WireReadable>(
    _ name: StaticString, _ value: inout Value, _ form: WireForm?
  ) {
    var read: Value?
    let known = problems.count
    field(name, &read, form, .counts)
    if let read { value = read } else if problems.count == known { noteMissing(name) }
  }

  // A view is never read.
  public func field<Value: WireValue>(_: StaticString, _: Value?, _: WireForm?) {}
  public func needed<Value: WireValue>(_: StaticString, _: Value, _: WireForm?) {}

  /// - Returns: whether it counts.
  @usableFromInline mutating func note(_ index: Int, _ name: StaticString, _ type: WireType, _ use: WireUse) -> Bool {
    let member = members[index]
    var reason = WireProblem.Reason.wrongType(type)
    switch (member.value, type) {
    case (.string(let string), .text): reason = string.text == nil ? .unpairedSurrogate : .badValue
    case (.number(let number), .number(let bits)):
      if let value = number.unsigned, value >> (bits - 1) < 2 { reason = .badValue }
    default: break
    }
    switch use {
    case .anyType where reason != .badValue: return false
    case .typeOnly where reason == .badValue: return true
    default: break
    }
    let offset = start.flatMap { start in member.source.baseAddress.map { $0 - start } }
    problems.append(WireProblem(reason: reason, field: "\(name)", offset: offset))
    return true
  }

  @usableFromInline mutating func noteMissing(_ name: StaticString) {
    problems.append(WireProblem(reason: .missing, field: "\(name)", offset: nil))
  }

  /// Whether all names are texts.
  public var hasNames: Bool { members.allSatisfy { $0.name.text != nil } }

  /// Whether there is one, also with `null`.
  public func has(_ name: StaticString) -> Bool { members.contains { name ~= $0.name } }

  /// The one that counts.
  public func member(_ name: StaticString) -> JSONMember? {
    for member in members where name ~= member.name {
      if case .null = member.value, !countsNull { continue }
      return member
    }
    return nil
  }

  /// The first one that can be read as a text.
  public func text(_ name: StaticString) -> String? {
    for member in members where name ~= member.name {
      if case .string(let string) = member.value, let text = string.text { return text }
    }
    return nil
  }
}

/// An object within a message that is read.
extension WireMessage where Self: WireReadable {
  public static var type: WireType { .object }

  /// - Returns: also nil where one of its fields is none.
  public static func read(_ member: JSONMember, _ form: WireForm?) -> Self? {
    guard case .nested = member.value,
      let members = try? UntrustedJSON.members(of: member.source, depth: WireReader.nesting)
    else { return nil }
    var reader = WireReader(members, of: member.source)
    var message = Self()
    message.fields(&reader)
    return reader.problems.isEmpty ? message : nil
  }
}

extension WireMessage where Self: WirePart { public static var sample: Self { Self() } }

extension WireMessage {
  /// - Parameters: as of `WireReader.read`.
  @inlinable public init(reading bytes: [UInt8], depth: Int = WireReader.nesting) throws(WireProblem) {
    let read: Result<Self, WireProblem>?
    do throws(JSONFlaw) {
      read = try WireReader.read(bytes, depth: depth) { reader in
        var message = Self()
        message.fields(&reader)
        return reader.problems.first.map { .failure($0) } ?? .success(message)
      }
    } catch { throw WireProblem(reason: .json(error.reason), field: nil, offset: error.offset) }
    guard let read else { throw WireProblem(reason: .notAnObject, field: nil, offset: 0) }
    self = try read.get()
  }
}
