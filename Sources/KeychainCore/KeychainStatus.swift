// SPDX-License-Identifier: Apache-2.0

/// What the keychain answers, with the OSStatus numbers of Apple's SecBase.h.
package enum KeychainStatus: Int32, Sendable {
  case unimplemented = -4
  case diskFull = -34
  case io = -36
  /// A call that is invalid.
  case param = -50
  case writePermission = -61
  case allocate = -108
  case userCanceled = -128
  /// There is no store that could be used now: held by another process, or not safe to open.
  case notAvailable = -25291
  case readOnly = -25292
  /// No key slot opens with what was given.
  case authFailed = -25293
  case noSuchKeychain = -25294
  case duplicateKeychain = -25296
  case duplicateItem = -25299
  case itemNotFound = -25300
  case dataTooLarge = -25302
  case noSuchAttribute = -25303
  /// Nothing says where the keychain lies.
  case noDefaultKeychain = -25307
  /// The class of the item is locked.
  case interactionNotAllowed = -25308
  case interactionRequired = -25315
  /// What is on the disk was altered, or is damaged.
  case decode = -26275
  case internalError = -26276
  case missingEntitlement = -34018
}
