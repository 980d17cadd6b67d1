// SPDX-License-Identifier: Apache-2.0

extension OperationalDataset {
  /// Checks structure, duplicates, lengths and values in one pass.
  ///
  /// The structure of the whole dataset comes before duplicates, these before lengths, these before
  /// values. So the pass remembers the gravest flaw while it goes on to look for a graver one.
  static func validate(_ bytes: [UInt8]) throws(DatasetError) {
    guard bytes.count <= maximumLength else { throw .tooLong(count: bytes.count) }

    var seen = TypeSet()
    var gravest: DatasetError?
    var offset = 0
    while offset < bytes.count {
      let type = bytes[offset]
      guard offset + 1 < bytes.count else { throw .noLength(type: type, offset: offset) }
      let length = Int(bytes[offset + 1])
      let start = offset + 2
      guard length <= bytes.count - start else {
        throw .truncated(type: type, offset: offset, length: length, left: bytes.count - start)
      }
      let flaw = flaw(of: type, at: offset, in: bytes[start..<start + length], seen: &seen)
      if let flaw, flaw.code < gravest?.code ?? .missingTLV {
        gravest = flaw
      }
      offset = start + length
    }
    if let gravest { throw gravest }
  }

  private static func flaw(
    of type: UInt8, at offset: Int, in value: ArraySlice<UInt8>, seen: inout TypeSet
  ) -> DatasetError? {
    guard seen.insert(type) else { return .duplicate(type: type, offset: offset) }
    guard let known = TLVType(rawValue: type), let flaw = known.flaw(in: value) else { return nil }
    return .flawed(known, offset: offset, flaw: flaw, length: value.count)
  }
}
