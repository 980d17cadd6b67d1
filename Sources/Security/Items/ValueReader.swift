// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads single values of a dictionary: Swift's own types and Foundation's.
enum ValueReader {
  static func text(_ value: Any) -> String? { value as? String }

  static func truth(_ value: Any, of key: String) throws(KeychainError) -> Bool {
    guard let number = value as? NSNumber else { throw unfit(key) }
    return number.boolValue
  }

  static func limit(_ value: Any) throws(KeychainError) -> MatchLimit {
    if let text = text(value) {
      switch text {
      case kSecMatchLimitOne: return .one
      case kSecMatchLimitAll: return .all
      default: throw unfit(kSecMatchLimit)
      }
    }
    guard let number = value as? NSNumber else { throw unfit(kSecMatchLimit) }
    return try MatchLimit(number.int64Value)
  }

  static func reference(
    _ value: Any, of key: String
  ) throws(KeychainError) -> PersistentReference {
    guard let data = value as? Data else { throw unfit(key) }
    return try PersistentReference(decoding: Array(data))
  }

  /// An array of persistent references, or of objects that came out of the keychain.
  static func references(
    _ value: Any, of key: String
  ) throws(KeychainError) -> [PersistentReference] {
    guard let list = value as? [Any] else { throw unfit(key) }
    var references: [PersistentReference] = []
    for entry in list {
      if let object = entry as? any KeychainObject {
        guard let reference = object.persistentReference else { throw unfit(key) }
        references.append(reference)
      } else {
        references.append(try reference(entry, of: key))
      }
    }
    return references
  }

  /// The value of an attribute, in the form in which the keychain compares it.
  static func value(
    _ value: Any, of attribute: ItemAttribute, key: String
  ) throws(KeychainError) -> AttributeValue {
    if let value = read(value, as: attribute.kind) { return value }
    throw unfit(key)
  }

  private static func read(_ value: Any, as kind: ItemAttribute.Kind) -> AttributeValue? {
    switch kind {
    case .bytes:
      return text(value).map { .string($0) } ?? (value as? Data).map { .data(Array($0)) }
    case .number:
      if let text = text(value) { return Int64(text).map { .integer($0) } }
      return number(value).map { .integer($0) }
    case .numberOrText:
      return text(value).map { .string($0) } ?? number(value).map { .integer($0) }
    case .decimalText:
      return text(value).map { .string($0) } ?? number(value).map { .string(String($0)) }
    case .fourCharacters:
      return text(value).map { .string($0) } ?? number(value).flatMap { characters($0) }
    case .truth:
      return (value as? NSNumber).map { .bool($0.boolValue) }
    case .date:
      return (value as? Date).flatMap { microseconds($0) }
    }
  }

  private static func number(_ value: Any) -> Int64? { (value as? NSNumber)?.int64Value }

  /// 0x68747073 is "htps".
  private static func characters(_ number: Int64) -> AttributeValue? {
    guard number != 0 else { return .string("") }
    guard let code = UInt32(exactly: number) else { return nil }
    let bytes = withUnsafeBytes(of: code.bigEndian) { Array($0) }
    guard bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
    return .string(String(decoding: bytes, as: UTF8.self))
  }

  /// Nil for dates that no calendar has.
  private static func microseconds(_ date: Date) -> AttributeValue? {
    let value = (date.timeIntervalSince1970 * 1_000_000).rounded()
    return Int64(exactly: value).map { .date(microseconds: $0) }
  }

  /// Names the key, never the value.
  static func unfit(_ key: String) -> KeychainError {
    KeychainError(.param, "the value of \"\(key)\" is of the wrong type or is invalid")
  }
}
