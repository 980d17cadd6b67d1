// SPDX-License-Identifier: Apache-2.0

/// All sentences about bad datasets are here. None of them holds a byte of a value.
extension DatasetError {
  init(_ error: Hexadecimal.NotHexadecimal) {
    let message =
      switch error {
      case .strangeCharacter(let position):
        "character \(position + 1) is not a hexadecimal digit"
      case .oddCount(let count):
        "\(count) hexadecimal digits, expected two for each byte: one is missing or too many"
      }
    self.init(code: .notHex, type: nil, offset: error.position / 2, message: message)
  }

  static func tooLong(count: Int) -> Self {
    let maximum = OperationalDataset.maximumLength
    return Self(
      code: .tooLong, type: nil, offset: maximum,
      message: "\(count) bytes, expected at most \(maximum)")
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

  static func missing(_ type: TLVType, from dataset: OperationalDataset) -> Self {
    let kind = TLVType.ofPendingDataset.contains(type) ? "a pending" : "an active"
    let message =
      dataset.bytes.isEmpty
      ? "the dataset is empty, expected \(kind) dataset"
      : "\(type.name) is missing, expected in \(kind) dataset"
    return Self(
      code: .missingTLV, type: type.rawValue, offset: dataset.bytes.count, message: message)
  }
}
