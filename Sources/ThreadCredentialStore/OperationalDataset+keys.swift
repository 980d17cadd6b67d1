// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

extension OperationalDataset {
  /// A network that is preferred by its Extended PAN ID alone.
  ///
  /// - Parameter name: left out where a dataset cannot have it.
  package static func naming(
    _ network: ExtendedPANID, _ name: String
  ) throws(DatasetError) -> OperationalDataset {
    if let named = try? OperationalDataset(.extendedPANID(network), .networkName(name)) {
      return named
    }
    return try OperationalDataset(.extendedPANID(network))
  }

  /// Whether it has the network's key. One that only names a network has not.
  package var hasCredentials: Bool { networkKey != nil }

  /// Whether both have the same Network Key and the same PSKc.
  ///
  /// The PSKc counts as a key: who knows it can get the Network Key from any router that uses it (Thread
  /// 1.1 specification, section 8.4, commissioning).
  package func hasKeys(of other: OperationalDataset) -> Bool {
    essentialDifferences(from: other).allSatisfy { $0 != .networkKey && $0 != .pskc }
  }

  /// Whether it is of the same network and has the same keys.
  package func isSameNetwork(as other: OperationalDataset) -> Bool {
    extendedPANID == other.extendedPANID && hasKeys(of: other)
  }

  /// Whether nothing is lost when another one takes its place: it says the same, or this one only names its network.
  package func isCovered(by other: OperationalDataset) -> Bool {
    essentialDifferences(from: other).isEmpty
      || !hasCredentials && extendedPANID == other.extendedPANID
  }
}
