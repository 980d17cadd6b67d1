// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import Security
import Testing

@Suite struct ErrorTests {
  /// The numbers that the keychain answers, by the names of SecBase.h.
  static let answered: [(KeychainStatus, OSStatus)] = [
    (.unimplemented, errSecUnimplemented), (.diskFull, errSecDiskFull), (.io, errSecIO),
    (.param, errSecParam), (.writePermission, errSecWrPerm), (.allocate, errSecAllocate),
    (.userCanceled, errSecUserCanceled), (.notAvailable, errSecNotAvailable),
    (.readOnly, errSecReadOnly), (.authFailed, errSecAuthFailed),
    (.noSuchKeychain, errSecNoSuchKeychain), (.duplicateKeychain, errSecDuplicateKeychain),
    (.duplicateItem, errSecDuplicateItem), (.itemNotFound, errSecItemNotFound),
    (.dataTooLarge, errSecDataTooLarge), (.noSuchAttribute, errSecNoSuchAttr),
    (.noDefaultKeychain, errSecNoDefaultKeychain),
    (.interactionNotAllowed, errSecInteractionNotAllowed),
    (.interactionRequired, errSecInteractionRequired), (.decode, errSecDecode),
    (.missingEntitlement, errSecMissingEntitlement),
  ]

  @Test(arguments: answered)
  func whatTheKeychainAnswersHasANameAndAMessage(
    _ status: KeychainStatus, _ constant: OSStatus
  ) throws {
    #expect(status.rawValue == constant)
    let message = try #require(SecCopyErrorMessageString(constant, nil) as String?)
    #expect(message.hasSuffix(".") && message.count > 15 && !message.contains("OSStatus"))
  }

  @Test(arguments: everyStatus)
  func everyErrorHasItsNumber(_ name: String, _ status: OSStatus, _ number: Int32) {
    #expect(status == number, "\(name)")
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
