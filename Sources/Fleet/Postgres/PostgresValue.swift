#if Fleet
import CLibPQ

/// A parameter of a statement, in PostgreSQL's binary form with its type.
struct PostgresValue {
  enum TypeID: Oid {
    case bytes = 17
    case int = 20
    case text = 25
    case blobs = 1001
    case ints = 1016
  }

  let type: TypeID
  /// Nil: NULL.
  let bytes: [UInt8]?

  init(_ type: TypeID, _ bytes: [UInt8]?) { (self.type, self.bytes) = (type, bytes) }

  /// A `bigint`.
  static func int(_ value: Int64) -> Self { Self(.int, value.bigEndianBytes) }
  static func int(_ value: Int) -> Self { int(Int64(value)) }
  static func text(_ value: String?) -> Self { Self(.text, value.map { Array($0.utf8) }) }
  static func bytes(_ value: [UInt8]?) -> Self { Self(.bytes, value) }

  static func ints(_ values: [Int64]) -> Self {
    var array = PostgresArray(.ints, of: .int)
    for value in values { array.append(8) { $0.storeBytes(of: value.bigEndian, as: Int64.self) } }
    return array.value
  }
}

/// An array that is filled in the place from which it is sent:
///
///     dimensions 4 | has nulls 4 | type 4 | count 4 | first index 4 | { length 4 | bytes }…
struct PostgresArray {
  private let type: PostgresValue.TypeID
  private var bytes: [UInt8]
  private(set) var count: Int32 = 0

  init(_ type: PostgresValue.TypeID, of element: PostgresValue.TypeID) {
    self.type = type
    bytes = [0, 0, 0, 1, 0, 0, 0, 1] + element.rawValue.bigEndianBytes + [0, 0, 0, 0, 0, 0, 0, 1]
  }

  static func blobs() -> Self { Self(.blobs, of: .bytes) }

  mutating func reserve(_ count: Int) { bytes.reserveCapacity(bytes.count + count) }

  /// - Parameter fill: gets `length` zeros.
  mutating func append(_ length: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows {
    bytes.append(contentsOf: Int32(length).bigEndianBytes)
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: length))
    try bytes.withUnsafeMutableBytes { try fill(UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
    count += 1
  }

  mutating func appendNull() {
    bytes.append(contentsOf: Int32(-1).bigEndianBytes)
    count += 1
  }

  var value: PostgresValue {
    var bytes = bytes
    bytes.replaceSubrange(12..<16, with: count.bigEndianBytes)
    return PostgresValue(type, bytes)
  }
}

extension FixedWidthInteger { var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } } }

/// What a statement has returned, in binary form.
final class PostgresRows: RandomAccessCollection {
  let result: OpaquePointer

  /// - Parameter result: belongs to this object.
  init(_ result: OpaquePointer) { self.result = result }

  deinit { PQclear(result) }

  var startIndex: Int { 0 }
  var endIndex: Int { Int(PQntuples(result)) }
  subscript(_ row: Int) -> PostgresRow { PostgresRow(rows: self, row: Int32(row)) }
}

struct PostgresRow {
  fileprivate let rows: PostgresRows
  fileprivate let row: Int32

  /// Nil: NULL.
  subscript(_ column: Int) -> PostgresField? {
    PQgetisnull(rows.result, row, Int32(column)) == 1 ? nil : PostgresField(row: self, column: Int32(column))
  }
}

/// The reader says which type it is.
struct PostgresField {
  fileprivate let row: PostgresRow
  fileprivate let column: Int32

  func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try withExtendedLifetime(row.rows) {
      try body(
        UnsafeRawBufferPointer(
          start: PQgetvalue(row.rows.result, row.row, column), count: Int(PQgetlength(row.rows.result, row.row, column))
        ))
    }
  }

  var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
  var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  /// Of `smallint`, `integer` and `bigint`.
  var int: Int64 {
    withUnsafeBytes { bytes in
      let bits = bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      return switch bytes.count {
      case 2: Int64(Int16(truncatingIfNeeded: bits))
      case 4: Int64(Int32(truncatingIfNeeded: bits))
      default: Int64(bitPattern: bits)
      }
    }
  }
}

#endif
