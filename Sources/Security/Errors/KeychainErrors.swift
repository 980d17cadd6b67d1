import Foundation

// The keychain and its items. The numbers are those of SecBase.h.

/// Done: there was no error.
public let errSecSuccess: OSStatus = 0
/// This function or this use of it is not supported.
public let errSecUnimplemented: OSStatus = -4
/// The disk is full.
public let errSecDiskFull: OSStatus = -34
/// The disk is full.
public let errSecDskFull: OSStatus = -34
/// The disk or another device failed to read or write.
public let errSecIO: OSStatus = -36
/// The file is open for writing already.
public let errSecOpWr: OSStatus = -49
/// A parameter of the call is missing, malformed or does not go with the others.
public let errSecParam: OSStatus = -50
/// There is no permission to write the file.
public let errSecWrPerm: OSStatus = -61
/// There is not enough memory.
public let errSecAllocate: OSStatus = -108
/// The person who was asked cancelled the request.
public let errSecUserCanceled: OSStatus = -128
/// The request is malformed, or comes at the wrong time.
public let errSecBadReq: OSStatus = -909
/// A component of the system failed.
public let errSecInternalComponent: OSStatus = -2070
/// The runtime reported an error that is not known.
public let errSecCoreFoundationUnknown: OSStatus = -4960
/// The program has no right to this access group.
public let errSecMissingEntitlement: OSStatus = -34018
/// The program has no right to call this function.
public let errSecRestrictedAPI: OSStatus = -34020
/// The keychain cannot be opened now: it is in use, or its files are not safe.
public let errSecNotAvailable: OSStatus = -25291
/// The keychain takes no changes.
public let errSecReadOnly: OSStatus = -25292
/// The key file, passphrase or login was not accepted.
public let errSecAuthFailed: OSStatus = -25293
/// There is no such keychain.
public let errSecNoSuchKeychain: OSStatus = -25294
/// The file is not a keychain.
public let errSecInvalidKeychain: OSStatus = -25295
/// There is a keychain of this name already.
public let errSecDuplicateKeychain: OSStatus = -25296
/// This callback is registered already.
public let errSecDuplicateCallback: OSStatus = -25297
/// This callback is not registered, or cannot be called.
public let errSecInvalidCallback: OSStatus = -25298
/// The keychain has an item with this primary key already.
public let errSecDuplicateItem: OSStatus = -25299
/// The keychain has no such item.
public let errSecItemNotFound: OSStatus = -25300
/// The buffer is too small for the data.
public let errSecBufferTooSmall: OSStatus = -25301
/// The data is larger than the keychain stores.
public let errSecDataTooLarge: OSStatus = -25302
/// Items of this class have no such attribute.
public let errSecNoSuchAttr: OSStatus = -25303
/// The reference names no item: it may have been deleted.
public let errSecInvalidItemRef: OSStatus = -25304
/// The reference names no search.
public let errSecInvalidSearchRef: OSStatus = -25305
/// There is no such class of items.
public let errSecNoSuchClass: OSStatus = -25306
/// No keychain is the default one.
public let errSecNoDefaultKeychain: OSStatus = -25307
/// The item is locked, or needs a person and nobody can be asked.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// This attribute cannot be changed.
public let errSecReadOnlyAttr: OSStatus = -25309
/// The keychain was written by another version of the software.
public let errSecWrongSecVersion: OSStatus = -25310
/// A key of this size is not allowed.
public let errSecKeySizeNotAllowed: OSStatus = -25311
/// The module that stores items is missing.
public let errSecNoStorageModule: OSStatus = -25312
/// The module that handles certificates is missing.
public let errSecNoCertificateModule: OSStatus = -25313
/// The module that handles policies is missing.
public let errSecNoPolicyModule: OSStatus = -25314
/// A person has to be asked.
public let errSecInteractionRequired: OSStatus = -25315
/// The data of the item cannot be read.
public let errSecDataNotAvailable: OSStatus = -25316
/// The data of the item cannot be changed.
public let errSecDataNotModifiable: OSStatus = -25317
/// A certificate of the chain is missing.
public let errSecCreateChainFailed: OSStatus = -25318
/// There is no such domain of preferences.
public let errSecInvalidPrefsDomain: OSStatus = -25319
/// The machine is awake without a screen: nobody can be asked.
public let errSecInDarkWake: OSStatus = -25320
/// The access control list is not of the simple form.
public let errSecACLNotSimple: OSStatus = -25240
/// There is no such policy.
public let errSecPolicyNotFound: OSStatus = -25241
/// The trust setting is invalid.
public let errSecInvalidTrustSetting: OSStatus = -25242
/// The item has no access control.
public let errSecNoAccessForItem: OSStatus = -25243
/// The owner of the item cannot be changed like that.
public let errSecInvalidOwnerEdit: OSStatus = -25244
/// There is no result of a trust evaluation.
public let errSecTrustNotAvailable: OSStatus = -25245
/// This format cannot be imported or exported.
public let errSecUnsupportedFormat: OSStatus = -25256
/// The format of what is imported is not known.
public let errSecUnknownFormat: OSStatus = -25257
/// The key leaves the keychain wrapped only.
public let errSecKeyIsSensitive: OSStatus = -25258
/// What is imported has more than one private key.
public let errSecMultiplePrivKeys: OSStatus = -25259
/// A passphrase is needed to import or export this.
public let errSecPassphraseRequired: OSStatus = -25260
/// The reference names no password.
public let errSecInvalidPasswordRef: OSStatus = -25261
/// The trust settings are damaged.
public let errSecInvalidTrustSettings: OSStatus = -25262
/// There are no trust settings.
public let errSecNoTrustSettings: OSStatus = -25263
/// The PKCS#12 file does not open with this passphrase, or was altered.
public let errSecPkcs12VerifyFailure: OSStatus = -25264
/// The certificate was not signed by the one above it.
public let errSecNotSigner: OSStatus = -26267
/// The data was altered or is damaged: it cannot be read.
public let errSecDecode: OSStatus = -26275

/// The meaning of a status as an English sentence; for one that no call of this library answers, its number.
///
/// - Parameters:
///   - status: what a call of this library answered.
///   - reserved: nil.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
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
    case .notAvailable: "The keychain cannot be opened now: it is in use or out of reach, or its files are not safe."
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
    NSError(domain: NSOSStatusErrorDomain, code: Int(status.rawValue), userInfo: [NSLocalizedDescriptionKey: message])
  }
}
