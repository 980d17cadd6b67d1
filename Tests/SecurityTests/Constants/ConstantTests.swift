import Foundation
import KeychainCore
import Security
import Testing

/// The values that programs store, compare and send.
@Suite struct ConstantTests {
  static let values: [(CFString, String)] = [
    (kSecClass, "class"), (kSecClassGenericPassword, "genp"), (kSecClassInternetPassword, "inet"),
    (kSecClassCertificate, "cert"), (kSecClassKey, "keys"), (kSecClassIdentity, "idnt"), (kSecAttrAccess, "acls"),
    (kSecAttrAccessControl, "accc"), (kSecAttrAccessGroup, "agrp"), (kSecAttrAccessible, "pdmn"),
    (kSecAttrAccount, "acct"), (kSecAttrApplicationLabel, "klbl"), (kSecAttrApplicationTag, "atag"),
    (kSecAttrAuthenticationType, "atyp"), (kSecAttrCanDecrypt, "decr"), (kSecAttrCanDerive, "drve"),
    (kSecAttrCanEncrypt, "encr"), (kSecAttrCanSign, "sign"), (kSecAttrCanUnwrap, "unwp"), (kSecAttrCanVerify, "vrfy"),
    (kSecAttrCanWrap, "wrap"), (kSecAttrCertificateEncoding, "cenc"), (kSecAttrCertificateType, "ctyp"),
    (kSecAttrComment, "icmt"), (kSecAttrCreationDate, "cdat"), (kSecAttrCreator, "crtr"), (kSecAttrDescription, "desc"),
    (kSecAttrEffectiveKeySize, "esiz"), (kSecAttrGeneric, "gena"), (kSecAttrIsExtractable, "extr"),
    (kSecAttrIsInvisible, "invi"), (kSecAttrIsNegative, "nega"), (kSecAttrIsPermanent, "perm"),
    (kSecAttrIsSensitive, "sens"), (kSecAttrIssuer, "issr"), (kSecAttrKeyClass, "kcls"),
    (kSecAttrKeySizeInBits, "bsiz"), (kSecAttrKeyType, "type"), (kSecAttrLabel, "labl"),
    (kSecAttrModificationDate, "mdat"), (kSecAttrPRF, "prf"), (kSecAttrPath, "path"),
    (kSecAttrPersistantReference, "persistref"), (kSecAttrPersistentReference, "persistref"), (kSecAttrPort, "port"),
    (kSecAttrProtocol, "ptcl"), (kSecAttrPublicKeyHash, "pkhh"), (kSecAttrRounds, "rounds"), (kSecAttrSalt, "salt"),
    (kSecAttrSecurityDomain, "sdmn"), (kSecAttrSerialNumber, "slnr"), (kSecAttrServer, "srvr"),
    (kSecAttrService, "svce"), (kSecAttrSubject, "subj"), (kSecAttrSubjectKeyID, "skid"),
    (kSecAttrSyncViewHint, "vwht"), (kSecAttrSynchronizable, "sync"), (kSecAttrTokenID, "tkid"), (kSecAttrType, "type"),
    (kSecAttrSynchronizableAny, "syna"), (kSecAttrAccessibleWhenUnlocked, "ak"),
    (kSecAttrAccessibleAfterFirstUnlock, "ck"), (kSecAttrAccessibleAlways, "dk"),
    (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, "akpu"), (kSecAttrAccessibleWhenUnlockedThisDeviceOnly, "aku"),
    (kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, "cku"), (kSecAttrAccessibleAlwaysThisDeviceOnly, "dku"),
    (kSecAttrAccessGroupToken, "com.apple.token"), (kSecAttrTokenIDSecureEnclave, "com.apple.setoken"),
    (kSecAttrKeyClassPublic, "0"), (kSecAttrKeyClassPrivate, "1"), (kSecAttrKeyClassSymmetric, "2"),
    (kSecAttrKeyTypeRSA, "42"), (kSecAttrKeyTypeDSA, "43"), (kSecAttrKeyTypeAES, "2147483649"),
    (kSecAttrKeyTypeDES, "14"), (kSecAttrKeyType3DES, "17"), (kSecAttrKeyTypeRC4, "25"), (kSecAttrKeyTypeRC2, "23"),
    (kSecAttrKeyTypeCAST, "56"), (kSecAttrKeyTypeECDSA, "73"), (kSecAttrKeyTypeEC, "73"),
    (kSecAttrKeyTypeECSECPrimeRandom, "73"), (kSecAttrPRFHmacAlgSHA1, "hsha1"), (kSecAttrPRFHmacAlgSHA224, "hsha224"),
    (kSecAttrPRFHmacAlgSHA256, "hsha256"), (kSecAttrPRFHmacAlgSHA384, "hsha384"), (kSecAttrPRFHmacAlgSHA512, "hsha512"),
    (kSecAttrProtocolAFP, "afp "), (kSecAttrProtocolAppleTalk, "atlk"), (kSecAttrProtocolDAAP, "daap"),
    (kSecAttrProtocolEPPC, "eppc"), (kSecAttrProtocolFTP, "ftp "), (kSecAttrProtocolFTPAccount, "ftpa"),
    (kSecAttrProtocolFTPProxy, "ftpx"), (kSecAttrProtocolFTPS, "ftps"), (kSecAttrProtocolHTTP, "http"),
    (kSecAttrProtocolHTTPProxy, "htpx"), (kSecAttrProtocolHTTPS, "htps"), (kSecAttrProtocolHTTPSProxy, "htsx"),
    (kSecAttrProtocolIMAP, "imap"), (kSecAttrProtocolIMAPS, "imps"), (kSecAttrProtocolIPP, "ipp "),
    (kSecAttrProtocolIRC, "irc "), (kSecAttrProtocolIRCS, "ircs"), (kSecAttrProtocolLDAP, "ldap"),
    (kSecAttrProtocolLDAPS, "ldps"), (kSecAttrProtocolNNTP, "nntp"), (kSecAttrProtocolNNTPS, "ntps"),
    (kSecAttrProtocolPOP3, "pop3"), (kSecAttrProtocolPOP3S, "pops"), (kSecAttrProtocolRTSP, "rtsp"),
    (kSecAttrProtocolRTSPProxy, "rtsx"), (kSecAttrProtocolSMB, "smb "), (kSecAttrProtocolSMTP, "smtp"),
    (kSecAttrProtocolSOCKS, "sox "), (kSecAttrProtocolSSH, "ssh "), (kSecAttrProtocolTelnet, "teln"),
    (kSecAttrProtocolTelnetS, "tels"), (kSecAttrAuthenticationTypeNTLM, "ntlm"),
    (kSecAttrAuthenticationTypeMSN, "msna"), (kSecAttrAuthenticationTypeDPA, "dpaa"),
    (kSecAttrAuthenticationTypeRPA, "rpaa"), (kSecAttrAuthenticationTypeHTTPBasic, "http"),
    (kSecAttrAuthenticationTypeHTTPDigest, "httd"), (kSecAttrAuthenticationTypeHTMLForm, "form"),
    (kSecAttrAuthenticationTypeDefault, "dflt"), (kSecMatchPolicy, "m_Policy"), (kSecMatchItemList, "m_ItemList"),
    (kSecMatchSearchList, "m_SearchList"), (kSecMatchIssuers, "m_Issuers"),
    (kSecMatchEmailAddressIfPresent, "m_EmailAddressIfPresent"), (kSecMatchSubjectContains, "m_SubjectContains"),
    (kSecMatchHostOrSubdomainOfHost, "m_HostOrSubdomainOfHost"), (kSecMatchSubjectStartsWith, "m_SubjectStartsWith"),
    (kSecMatchSubjectEndsWith, "m_SubjectEndsWith"), (kSecMatchSubjectWholeString, "m_SubjectWholeString"),
    (kSecMatchCaseInsensitive, "m_CaseInsensitive"), (kSecMatchDiacriticInsensitive, "m_DiacriticInsensitive"),
    (kSecMatchWidthInsensitive, "m_WidthInsensitive"), (kSecMatchTrustedOnly, "m_TrustedOnly"),
    (kSecMatchValidOnDate, "m_ValidOnDate"), (kSecMatchLimit, "m_Limit"), (kSecMatchLimitOne, "m_LimitOne"),
    (kSecMatchLimitAll, "m_LimitAll"), (kSecReturnData, "r_Data"), (kSecReturnAttributes, "r_Attributes"),
    (kSecReturnRef, "r_Ref"), (kSecReturnPersistentRef, "r_PersistentRef"), (kSecValueData, "v_Data"),
    (kSecValueRef, "v_Ref"), (kSecValuePersistentRef, "v_PersistentRef"), (kSecUseItemList, "u_ItemList"),
    (kSecUseKeychain, "u_Keychain"), (kSecUseOperationPrompt, "u_OpPrompt"), (kSecUseNoAuthenticationUI, "u_NoAuthUI"),
    (kSecUseAuthenticationUI, "u_AuthUI"), (kSecUseAuthenticationContext, "u_AuthCtx"),
    (kSecUseDataProtectionKeychain, "nleg"), (kSecUseAuthenticationUIAllow, "u_AuthUIA"),
    (kSecUseAuthenticationUIFail, "u_AuthUIF"), (kSecUseAuthenticationUISkip, "u_AuthUIS"),
  ]

  @Test func everyConstantHasItsValue() {
    for (constant, value) in Self.values { #expect(constant as String == value) }
  }

  @Test func theTruthValues() {
    #expect(CFBooleanGetValue(kCFBooleanTrue) && !CFBooleanGetValue(kCFBooleanFalse))
    #expect(kCFBooleanTrue == true)
    #expect(kCFBooleanFalse == false)
    #expect((kCFBooleanTrue as Any) as? Bool == true)
    #expect(kCFAllocatorDefault == nil)
    #expect(kSecRandomDefault == nil)
  }

  @Test func theNamesOfWhatABundleSays() {
    #expect(kCFBundleIdentifierKey as String == "CFBundleIdentifier")
    #expect(kCFBundleNameKey as String == "CFBundleName")
    #expect(kCFBundleVersionKey as String == "CFBundleVersion")
    #expect(kCFBundleExecutableKey as String == "CFBundleExecutable")
  }

  @Test func theFlagsOfAccessControls() {
    let flags: [(SecAccessControlCreateFlags, CFOptionFlags)] = [
      (.userPresence, 1), (.biometryAny, 2), (.touchIDAny, 2), (.biometryCurrentSet, 8), (.touchIDCurrentSet, 8),
      (.devicePasscode, 16), (.companion, 32), (.watch, 32), (.or, 0x4000), (.and, 0x8000),
      (.privateKeyUsage, 0x4000_0000), (.applicationPassword, 0x8000_0000),
    ]
    for (flag, value) in flags { #expect(flag.rawValue == value) }
  }
}

@Suite struct ErrorTests {
  /// The numbers that the keychain answers, by the names of SecBase.h.
  static let answered: [(KeychainStatus, OSStatus, Int32)] = [
    (.unimplemented, errSecUnimplemented, -4), (.diskFull, errSecDiskFull, -34), (.io, errSecIO, -36),
    (.param, errSecParam, -50), (.writePermission, errSecWrPerm, -61), (.allocate, errSecAllocate, -108),
    (.userCanceled, errSecUserCanceled, -128), (.notAvailable, errSecNotAvailable, -25291),
    (.readOnly, errSecReadOnly, -25292), (.authFailed, errSecAuthFailed, -25293),
    (.noSuchKeychain, errSecNoSuchKeychain, -25294), (.duplicateKeychain, errSecDuplicateKeychain, -25296),
    (.duplicateItem, errSecDuplicateItem, -25299), (.itemNotFound, errSecItemNotFound, -25300),
    (.dataTooLarge, errSecDataTooLarge, -25302), (.noSuchAttribute, errSecNoSuchAttr, -25303),
    (.noDefaultKeychain, errSecNoDefaultKeychain, -25307),
    (.interactionNotAllowed, errSecInteractionNotAllowed, -25308),
    (.interactionRequired, errSecInteractionRequired, -25315), (.decode, errSecDecode, -26275),
    (.missingEntitlement, errSecMissingEntitlement, -34018),
  ]

  @Test func whatTheKeychainAnswersHasANameAndAMessage() throws {
    for (status, constant, number) in Self.answered {
      #expect(status.rawValue == constant && constant == number)
      let message = try #require(SecCopyErrorMessageString(constant, nil) as String?)
      #expect(message.hasSuffix(".") && message.count > 15 && !message.contains("OSStatus"))
    }
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

@Suite struct RandomTests {
  @Test(arguments: [0, 1, 7, 32, 100_000]) func asManyBytesAsAskedForAreFilled(_ count: Int) {
    var bytes = [UInt8](repeating: 0, count: count + 16)
    let status = bytes.withUnsafeMutableBytes { SecRandomCopyBytes(kSecRandomDefault, count, $0.baseAddress!) }
    #expect(status == errSecSuccess)
    #expect(bytes[count...].allSatisfy { $0 == 0 }, "not one more")
    // 32 zeros at once come once in 2^256 calls.
    if count >= 32 { #expect(bytes[..<count].contains { $0 != 0 }) }
  }

  @Test func twoCallsDiffer() {
    func random() -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 32)
      SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes)
      return bytes
    }
    let (one, other) = (random(), random())
    #expect(one != other)
  }

  @Test func aNegativeCountIsRefused() {
    var byte: UInt8 = 7
    #expect(SecRandomCopyBytes(nil, -1, &byte) == errSecParam)
    #expect(byte == 7)
  }
}
