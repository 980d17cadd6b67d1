// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How a dataset compares with the preferred network of the home. Linux only.
public enum THPreferredMatch: Sendable, Hashable {
  /// All essential parameters are equal.
  case match
  /// It is another network, or has other parameters. The names are those of what differs, such as
  /// `network_key` and `ext_pan_id`; values are not told.
  case mismatch(differing: [String])
  /// The home has no preferred network; or the dataset names it, and its credentials are not there to compare with.
  case noPreferredNetwork
}

extension THClient {
  /// Compares a dataset with the preferred network. Nobody is asked. Linux only: it is what
  /// ``isPreferred(forActiveOperationalDataset:)`` is made of, and keeps apart what that calls false.
  ///
  /// - Parameter activeOperationalDataSet: a complete active dataset, at most 254 bytes.
  /// - Throws: ``THError``, with the code ``THError/Code/invalidDataset`` for what is none;
  ///   `CancellationError`.
  public func preferredMatch(
    forActiveOperationalDataset activeOperationalDataSet: Data
  ) async throws -> THPreferredMatch {
    try await daemon.match(activeOperationalDataSet)
  }
}
