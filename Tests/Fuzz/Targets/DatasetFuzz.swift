import ThreadDataset

/// Operational datasets, as TLVs and as hex: what is decoded is encoded to the same bytes, and each of its values, put
/// back, reads the same and takes no more bytes.
enum DatasetFuzz {
  static func check(_ bytes: [UInt8]) throws {
    _ = try? OperationalDataset(hex: String(decoding: bytes, as: UTF8.self))
    let dataset: OperationalDataset
    do throws(DatasetError) { dataset = try OperationalDataset(bytes: bytes) } catch {
      return try check(error, of: bytes)
    }
    try expect(dataset.bytes == bytes, "a dataset keeps its bytes")
    let again = try need("its hex reads again") { try OperationalDataset(hex: dataset.hex) }
    try expect(again == dataset, "its hex reads the same")
    try expect(dataset.relation(to: again) == .match, "a dataset matches itself")
    try expect(!dataset.description.contains(dataset.hex) || bytes.isEmpty, "it shows no bytes")
    let isComplete = (try? dataset.requireComplete()) != nil
    try expect(isComplete == (dataset.kind != .partial), "complete and not partial are the same")
    for component in components(of: dataset) {
      let replaced = try need("a value of a dataset can be put back") { try dataset.replacing(component) }
      try expect(replaced.bytes.count <= bytes.count, "a value that is put back takes no more room")
      try expect(components(of: replaced) == components(of: dataset), "and reads the same")
    }
    for type in TLVType.allCases {
      let fewer = dataset.removing(type)
      _ = try need("a part of a dataset reads") { try OperationalDataset(bytes: fewer.bytes) }
    }
  }

  private static func check(_ error: DatasetError, of bytes: [UInt8]) throws {
    try expect((0...bytes.count).contains(error.offset), "an error lies within the dataset")
    try expect(error.code != .missingTLV, "completeness is not asked for")
    try expect(!error.message.isEmpty, "an error has a message")
  }

  private static func components(of dataset: OperationalDataset) -> [DatasetComponent] {
    let known: [DatasetComponent?] = [
      dataset.activeTimestamp.map { .activeTimestamp($0) }, dataset.pendingTimestamp.map { .pendingTimestamp($0) },
      dataset.delayTimer.map { .delayTimer($0) }, dataset.channel.map { .channel($0) },
      dataset.wakeUpChannel.map { .wakeUpChannel($0) }, dataset.channelMask.map { .channelMask($0) },
      dataset.panID.map { .panID($0) }, dataset.extendedPANID.map { .extendedPANID($0) },
      dataset.networkName.map { .networkName($0) }, dataset.meshLocalPrefix.map { .meshLocalPrefix($0) },
      dataset.networkKey.map { .networkKey($0) }, dataset.pskc.map { .pskc($0) },
      dataset.securityPolicy.map { .securityPolicy($0) }, dataset.domainName.map { .domainName($0) },
    ]
    return known.compactMap { $0 } + dataset.unknown.map { .other($0) }
  }
}
