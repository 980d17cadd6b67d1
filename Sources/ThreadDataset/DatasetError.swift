/// Why bytes are not a dataset: what is wrong, where, and what was expected.
///
/// It never holds a byte of a value, so it may be logged, published and shown.
public struct DatasetError: Error, Sendable, Equatable {
  /// The reasons, in the order in which they are tested. The raw values are stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Not hexadecimal text, or an odd number of digits.
    case notHex = "not_hex"
    /// More than 254 bytes.
    case tooLong = "too_long"
    /// A TLV says more bytes than are left.
    case truncated = "truncated"
    /// A type occurs twice, known or unknown.
    case duplicateTLV = "duplicate_tlv"
    /// The value of a known type has a wrong number of bytes.
    case badLength = "bad_length"
    /// The value of a known type is out of its range.
    case badValue = "bad_value"
    /// The dataset is not complete.
    case missingTLV = "missing_tlv"
  }

  /// The reason.
  public let code: Code
  /// The type byte of the TLV concerned; `nil` where it is not about one TLV.
  public let type: UInt8?
  /// Bytes from the beginning of the dataset to the type byte of the TLV concerned. For `not_hex`
  /// half the place of the character, for `too_long` the first byte too many, for `missing_tlv`
  /// the end.
  public let offset: Int
  /// What is wrong and what was expected, as a sentence for people. Never a byte of a value.
  public let message: String

  /// - Parameters:
  ///   - code: the reason.
  ///   - type: the type byte of the TLV concerned.
  ///   - offset: bytes from the beginning of the dataset.
  ///   - message: a sentence without any byte of a value.
  public init(code: Code, type: UInt8?, offset: Int, message: String) {
    self.code = code
    self.type = type
    self.offset = offset
    self.message = message
  }

  /// The name of the TLV concerned; `nil` where its type is unknown or where there is none.
  public var tlvName: String? { type.flatMap(TLVType.init(rawValue:))?.name }
}

extension DatasetError.Code: Comparable {
  /// The earlier one is tested is the smaller one.
  public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

  private var rank: Int {
    switch self {
    case .notHex: 0
    case .tooLong: 1
    case .truncated: 2
    case .duplicateTLV: 3
    case .badLength: 4
    case .badValue: 5
    case .missingTLV: 6
    }
  }
}

extension DatasetError: CustomStringConvertible {
  /// The code and the message: `bad_length: Network Key at byte 50 has 8 bytes, expected 16`.
  public var description: String { "\(code.rawValue): \(message)" }
}

/// All sentences about bad datasets are here. None of them holds a byte of a value.
extension DatasetError {
  init(_ error: Hexadecimal.NotHexadecimal) {
    let message =
      switch error {
      case .strangeCharacter(let position): "character \(position + 1) is not a hexadecimal digit"
      case .oddCount(let count): "\(count) hexadecimal digits, expected two for each byte: one is missing or too many"
      }
    self.init(code: .notHex, type: nil, offset: error.position / 2, message: message)
  }

  static func tooLong(count: Int) -> Self {
    let maximum = OperationalDataset.maximumLength
    return Self(code: .tooLong, type: nil, offset: maximum, message: "\(count) bytes, expected at most \(maximum)")
  }

  static func noLength(type: UInt8, offset: Int) -> Self {
    Self(
      code: .truncated, type: type, offset: offset,
      message: "\(TLVType.name(of: type)) at byte \(offset) ends before its length byte")
  }

  static func truncated(type: UInt8, offset: Int, length: Int, left: Int) -> Self {
    let place = "\(TLVType.name(of: type)) at byte \(offset)"
    let message =
      length == 0xFF
      ? "\(place) has an extended length (255), which is not allowed in a dataset"
      : "\(place) is said to have \(length) bytes, but only \(left) are left"
    return Self(code: .truncated, type: type, offset: offset, message: message)
  }

  static func duplicate(type: UInt8, offset: Int) -> Self {
    Self(
      code: .duplicateTLV, type: type, offset: offset,
      message: "\(TLVType.name(of: type)) occurs again at byte \(offset), expected once at most")
  }

  static func flawed(_ type: TLVType, offset: Int, flaw: TLVType.Flaw, length: Int) -> Self {
    let place = "\(type.name) at byte \(offset)"
    let message =
      flaw.code == .badLength
      ? "\(place) has \(length) bytes, expected \(flaw.expected)"
      : "\(place) is out of range, expected \(flaw.expected)"
    return Self(code: flaw.code, type: type.rawValue, offset: offset, message: message)
  }

  /// - Parameter types: all that are missing, at least one.
  static func missing(_ types: [TLVType], from dataset: OperationalDataset, isPending: Bool) -> Self {
    let kind = isPending ? "a pending" : "an active"
    let message =
      dataset.bytes.isEmpty
      ? "the dataset is empty, expected \(kind) dataset"
      : "\(list(types.map(\.name))) missing, expected in \(kind) dataset"
    return Self(code: .missingTLV, type: types.first?.rawValue, offset: dataset.bytes.count, message: message)
  }

  /// `A is`, `A and B are`, `A, B and C are`.
  private static func list(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.joined() + " is" }
    return names.dropLast().joined(separator: ", ") + " and \(last) are"
  }
}
