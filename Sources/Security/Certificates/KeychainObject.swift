// SPDX-License-Identifier: Apache-2.0

/// An object that may have come out of the keychain.
protocol KeychainObject: AnyObject {
  /// Nil when it was made of data.
  var persistentReference: PersistentReference? { get }
}
