// SPDX-License-Identifier: Apache-2.0

/// What a lock came to.
package enum KeychainLock: String, Equatable, Sendable {
  /// Only a passphrase or a recovery code brings the keys back.
  case locked
  /// There is no passphrase: this process holds its keys back, and whoever has another way into the
  /// store reaches everything all the same.
  case lockedWithoutPassphrase
}
