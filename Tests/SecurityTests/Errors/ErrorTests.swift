// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import Security
import Testing

@Suite struct ErrorTests {
  /// The numbers that the keychain answers, by the names of SecBase.h.
  static let answered: [(KeychainStatus, OSStatus, Int32)] = [
    (.unimplemented, errSecUnimplemented, -4), (.diskFull, errSecDiskFull, -34),
    (.io, errSecIO, -36), (.param, errSecParam, -50), (.writePermission, errSecWrPerm, -61),
    (.allocate, errSecAllocate, -108), (.userCanceled, errSecUserCanceled, -128),
    (.notAvailable, errSecNotAvailable, -25291), (.readOnly, errSecReadOnly, -25292),
    (.authFailed, errSecAuthFailed, -25293), (.noSuchKeychain, errSecNoSuchKeychain, -25294),
    (.duplicateKeychain, errSecDuplicateKeychain, -25296),
    (.duplicateItem, errSecDuplicateItem, -25299), (.itemNotFound, errSecItemNotFound, -25300),
    (.dataTooLarge, errSecDataTooLarge, -25302), (.noSuchAttribute, errSecNoSuchAttr, -25303),
    (.noDefaultKeychain, errSecNoDefaultKeychain, -25307),
    (.interactionNotAllowed, errSecInteractionNotAllowed, -25308),
    (.interactionRequired, errSecInteractionRequired, -25315), (.decode, errSecDecode, -26275),
    (.missingEntitlement, errSecMissingEntitlement, -34018),
  ]

  @Test(arguments: answered)
  func whatTheKeychainAnswersHasANameAndAMessage(
    _ status: KeychainStatus, _ constant: OSStatus, _ number: Int32
  ) throws {
    #expect(status.rawValue == constant && constant == number)
    let message = try #require(SecCopyErrorMessageString(constant, nil) as String?)
    #expect(message.hasSuffix(".") && message.count > 15 && !message.contains("OSStatus"))
  }

  @Test func successAndUnknownNumbersHaveWordsToo() {
    #expect(noErr == 0 && errSecSuccess == noErr)
    #expect(SecCopyErrorMessageString(noErr, nil) == "Done: there was no error.")
    #expect(SecCopyErrorMessageString(12345, nil) == "OSStatus 12345")
    #expect(SecCopyErrorMessageString(errSecCRLExpired, nil) == "OSStatus -67613")
    #expect(SecCopyErrorMessageString(-26276, nil) == "There is a defect in the software.")
  }

  @Test func thePartsOfAnErrorAreThoseOfFoundation() {
    let error: CFError = NSError(
      domain: NSOSStatusErrorDomain, code: -50,
      userInfo: [
        NSLocalizedDescriptionKey: "what", NSLocalizedFailureReasonErrorKey: "why",
        NSLocalizedRecoverySuggestionErrorKey: "what to do",
      ])
    #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
    #expect(CFErrorGetCode(error) == -50)
    #expect(CFErrorCopyUserInfo(error).count == 3)
    #expect(CFErrorCopyDescription(error) == "what")
    #expect(CFErrorCopyFailureReason(error) == "why")
    #expect(CFErrorCopyRecoverySuggestion(error) == "what to do")
    let bare = NSError(domain: "x", code: 1)
    #expect(CFErrorCopyFailureReason(bare) == nil && CFErrorCopyRecoverySuggestion(bare) == nil)
  }
}
