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
      if let flaw, flaw.code < gravest?.code ?? .missingTLV { gravest = flaw }
      offset = start + length
    }
    if let gravest { throw gravest }
  }

  private static func flaw(of type: UInt8, at offset: Int, in value: ArraySlice<UInt8>, seen: inout TypeSet)
    -> DatasetError?
  {
    guard seen.insert(type) else { return .duplicate(type: type, offset: offset) }
    guard let known = TLVType(rawValue: type), let flaw = known.flaw(in: value) else { return nil }
    return .flawed(known, offset: offset, flaw: flaw, length: value.count)
  }
}

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
    guard missing(among: types).isEmpty else { return .partial }
    return types.contains(.pendingTimestamp) ? .pending : .complete
  }

  /// Passes for a complete active dataset and for a complete pending one.
  ///
  /// An active dataset has Active Timestamp, Channel, Channel Mask, Extended PAN ID, Mesh-Local
  /// Prefix, Network Key, Network Name, PAN ID, PSKc and Security Policy. One that has a Pending
  /// Timestamp or a Delay Timer is pending and needs both.
  ///
  /// - Throws: ``DatasetError`` with the code `missing_tlv`, the type of the first one missing in
  ///   that order, and as offset the end of the dataset. The message names all that are missing.
  public func requireComplete() throws(DatasetError) {
    let types = presentTypes
    let missing = missing(among: types)
    guard missing.isEmpty else { throw .missing(missing, from: self, isPending: isPending(types)) }
  }

  /// The types that it lacks to be complete, in the order of ``requireComplete()``.
  package var missing: [TLVType] { missing(among: presentTypes) }

  /// Whether it is an active dataset with which a Matter device can attach: it has Channel, Extended PAN ID, Network
  /// Key and PAN ID.
  ///
  /// The command AddOrUpdateThreadNetwork of the Network Commissioning cluster takes a dataset with these four, and
  /// answers any other one with OutOfRange (connectedhomeip: `OperationalDatasetView::IsCommissioned` in
  /// `src/lib/support/ThreadOperationalDataset.cpp`, asked by `GenericThreadDriver::AddOrUpdateNetwork`).
  package var isUsableByMatter: Bool {
    let types = presentTypes
    return !isPending(types) && [.channel, .extendedPANID, .networkKey, .panID].allSatisfy(types.contains)
  }

  private var presentTypes: TypeSet {
    var types = TypeSet()
    for tlv in TLVSequence(bytes) { _ = types.insert(tlv.type) }
    return types
  }

  private func missing(among types: TypeSet) -> [TLVType] {
    let active = TLVType.ofActiveDataset.filter { !types.contains($0) }
    guard isPending(types) else { return active }
    return active + TLVType.ofPendingDataset.filter { !types.contains($0) }
  }

  private func isPending(_ types: TypeSet) -> Bool { TLVType.ofPendingDataset.contains { types.contains($0) } }
}

extension OperationalDataset {
  /// The essential parameters that differ, by name, never by value. Empty: the same network.
  ///
  /// Not essential are the two timestamps and the delay, Channel Mask, Wake-up Channel, unknown
  /// types, the order of the TLVs, and the legacy beacon bit of the Security Policy. A parameter
  /// that only one of the two has, differs.
  public func essentialDifferences(from other: OperationalDataset) -> [DatasetParameter] {
    guard bytes != other.bytes else { return [] }
    return DatasetParameter.allCases.filter { parameter in
      let mine = value(of: parameter.type)
      let others = other.value(of: parameter.type)
      guard mine != others else { return false }
      return parameter != .securityPolicy
        || mine.map(SecurityPolicy.essentialBytes) != others.map(SecurityPolicy.essentialBytes)
    }
  }

  /// What this dataset is to the one that is stored.
  ///
  /// Age is asked only within one network: another Extended PAN ID is a mismatch, whatever the
  /// timestamps say. A dataset without an Active Timestamp has no age of its own, so it is compared
  /// as if both had the same.
  public func relation(to stored: OperationalDataset) -> DatasetRelation {
    let differences = essentialDifferences(from: stored)
    if differences.contains(.extendedPANID) { return .mismatch(differences) }
    if let mine = activeTimestamp, let others = stored.activeTimestamp {
      if mine > others { return .newer }
      if mine < others { return .older }
    }
    return differences.isEmpty ? .match : .conflict(differences)
  }
}

/// What one dataset is to another one that is already stored.
public enum DatasetRelation: Sendable, Hashable {
  /// The same network, equally old, with the same essential parameters: no change.
  case match
  /// The same network with an earlier Active Timestamp: to be ignored, and said.
  case older
  /// The same network with a later Active Timestamp: an update.
  case newer
  /// The same network, equally old, with different essential parameters: never to be dropped in
  /// silence. The names are those of what differs.
  case conflict([DatasetParameter])
  /// Another network: the Extended PAN IDs differ. The names are those of all that differs.
  case mismatch([DatasetParameter])
}
