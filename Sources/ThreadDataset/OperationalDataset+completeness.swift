// SPDX-License-Identifier: Apache-2.0

extension OperationalDataset {
  /// What a dataset is good for.
  public enum Kind: String, Sendable, Hashable {
    /// An active dataset with all that a network needs.
    case complete
    /// A complete dataset with a Pending Timestamp and a Delay Timer: it is to replace the active
    /// one when the delay has passed.
    case pending
    /// Something is missing: ``OperationalDataset/requireComplete()`` says what.
    case partial
  }

  /// Whether the dataset is complete, pending or partial.
  public var kind: Kind {
    let types = presentTypes
    guard firstMissing(among: types) == nil else { return .partial }
    return types.contains(.pendingTimestamp) ? .pending : .complete
  }

  /// Passes for a complete active dataset and for a complete pending one.
  ///
  /// An active dataset has Active Timestamp, Channel, Channel Mask, Extended PAN ID, Mesh-Local
  /// Prefix, Network Key, Network Name, PAN ID, PSKc and Security Policy. One that has a Pending
  /// Timestamp or a Delay Timer is pending and needs both.
  ///
  /// - Throws: ``DatasetError`` with the code `missing_tlv`, the type of the first one missing in
  ///   that order, and as offset the end of the dataset.
  public func requireComplete() throws(DatasetError) {
    if let type = firstMissing(among: presentTypes) {
      throw .missing(type, from: self)
    }
  }

  private var presentTypes: TypeSet {
    var types = TypeSet()
    for tlv in TLVSequence(bytes) {
      _ = types.insert(tlv.type)
    }
    return types
  }

  private func firstMissing(among types: TypeSet) -> TLVType? {
    if let type = TLVType.ofActiveDataset.first(where: { !types.contains($0) }) { return type }
    let pending = TLVType.ofPendingDataset
    guard pending.contains(where: { types.contains($0) }) else { return nil }
    return pending.first { !types.contains($0) }
  }
}
