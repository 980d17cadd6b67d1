// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

extension OperationalDataset {
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
}
