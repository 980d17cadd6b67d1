// SPDX-License-Identifier: Apache-2.0

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
