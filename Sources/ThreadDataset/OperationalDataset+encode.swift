// SPDX-License-Identifier: Apache-2.0

extension OperationalDataset {
  /// Makes a dataset of values, in the order given.
  ///
  /// - Throws: ``DatasetError`` when a value is out of its range or occurs twice, or when all of
  ///   them together have more than 254 bytes. Completeness is not asked for.
  public init(_ components: [DatasetComponent]) throws(DatasetError) {
    try self.init(tlvs: components.map(\.tlv))
  }

  /// Makes a dataset of values, in the order given. See ``init(_:)-([DatasetComponent])``.
  public init(_ components: DatasetComponent...) throws(DatasetError) {
    try self.init(components)
  }

  /// The same dataset with other values: a component takes the place of the TLV of its type, or is
  /// added at the end. Everything else stays as and where it is, unknown TLVs too.
  ///
  /// - Throws: ``DatasetError`` as ``init(bytes:)``.
  public func replacing(_ components: DatasetComponent...) throws(DatasetError)
    -> OperationalDataset
  {
    var tlvs = self.tlvs
    for tlv in components.map(\.tlv) {
      if let index = tlvs.firstIndex(where: { $0.type == tlv.type }) {
        tlvs[index] = tlv
      } else {
        tlvs.append(tlv)
      }
    }
    return try OperationalDataset(tlvs: tlvs)
  }

  /// The same dataset without the TLVs of these types.
  public func removing(_ types: TLVType...) -> OperationalDataset {
    let removed = Set(types.map(\.rawValue))
    return OperationalDataset(unchecked: Self.encode(tlvs.filter { !removed.contains($0.type) }))
  }

  private var tlvs: [TLV] {
    TLVSequence(bytes).map { TLV(type: $0.type, value: Array($0.value)) }
  }

  private init(tlvs: [TLV]) throws(DatasetError) {
    // A longer value has no length byte. The whole would be too long anyway.
    if let tlv = tlvs.first(where: { $0.value.count > Self.maximumLength }) {
      throw .tooLong(count: tlv.value.count + 2)
    }
    try self.init(bytes: Self.encode(tlvs))
  }

  private static func encode(_ tlvs: [TLV]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(tlvs.reduce(0) { $0 + 2 + $1.value.count })
    for tlv in tlvs {
      bytes.append(tlv.type)
      bytes.append(UInt8(truncatingIfNeeded: tlv.value.count))
      bytes.append(contentsOf: tlv.value)
    }
    return bytes
  }
}
