// SPDX-License-Identifier: Apache-2.0

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
