// SPDX-License-Identifier: Apache-2.0

/// Who can reach a socket's name.
package enum SocketReach: Sendable, Equatable {
  /// This user, and root.
  case owner
  /// Members of a group, by number.
  case group(UInt32)
  case everybody
}
