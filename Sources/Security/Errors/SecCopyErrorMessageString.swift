// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The meaning of a status as an English sentence; for one that no call of this library answers, its number.
///
/// - Parameters:
///   - status: what a call of this library answered.
///   - reserved: nil.
public func SecCopyErrorMessageString(
  _ status: OSStatus, _ reserved: UnsafeMutableRawPointer?
) -> CFString? {
  guard status != errSecSuccess else { return "Done: there was no error." }
  return KeychainStatus(rawValue: status)?.sentence ?? "OSStatus \(status)"
}

extension KeychainStatus {
  fileprivate var sentence: String {
    switch self {
    case .unimplemented: "This function or this use of it is not supported."
    case .diskFull: "The disk is full."
    case .io: "The disk or another device failed to read or write."
    case .param: "A parameter of the call is missing, malformed or does not go with the others."
    case .writePermission: "The file or directory cannot be written or made."
    case .allocate: "There is not enough memory."
    case .userCanceled: "The person who was asked cancelled the request."
    case .notAvailable:
      "The keychain cannot be opened now: it is in use or out of reach, or its files are not safe."
    case .readOnly: "The keychain takes no changes."
    case .authFailed: "The key file, passphrase or login was not accepted."
    case .noSuchKeychain: "There is no such keychain."
    case .duplicateKeychain: "There is a keychain of this name already."
    case .duplicateItem: "The keychain has an item with this primary key already."
    case .itemNotFound: "The keychain has no such item."
    case .dataTooLarge: "The data is larger than the keychain stores."
    case .noSuchAttribute: "Items of this class have no such attribute."
    case .noDefaultKeychain: "There is no default keychain: nothing says where it lies."
    case .interactionNotAllowed: "The item is locked, or needs a person and nobody can be asked."
    case .interactionRequired: "A person has to be asked."
    case .decode: "The data was altered or is damaged: it cannot be read."
    case .internalError: "There is a defect in the software."
    case .missingEntitlement: "The program has no right to this access group."
    }
  }
}

extension KeychainError {
  /// As Core Foundation's errors are: a number of `OSStatus` and the reason.
  var foundationError: NSError {
    NSError(
      domain: NSOSStatusErrorDomain, code: Int(status.rawValue),
      userInfo: [NSLocalizedDescriptionKey: message])
  }
}
