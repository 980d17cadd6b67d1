// SPDX-License-Identifier: Apache-2.0

// Devices, trust and the checks of certificates. The numbers are those of SecBase.h.

/// The service is not there.
public let errSecServiceNotAvailable: OSStatus = -67585
/// The client did not say well enough who it is.
public let errSecInsufficientClientID: OSStatus = -67586
/// The device was reset.
public let errSecDeviceReset: OSStatus = -67587
/// The device failed.
public let errSecDeviceFailed: OSStatus = -67588
/// The application could not be added to the access control list.
public let errSecAppleAddAppACLSubject: OSStatus = -67589
/// The public key is not complete.
public let errSecApplePublicKeyIncomplete: OSStatus = -67590
/// The signature does not fit what was signed.
public let errSecAppleSignatureMismatch: OSStatus = -67591
/// The date from which the key may be used is invalid.
public let errSecAppleInvalidKeyStartDate: OSStatus = -67592
/// The date until which the key may be used is invalid.
public let errSecAppleInvalidKeyEndDate: OSStatus = -67593
/// The data could not be converted.
public let errSecConversionError: OSStatus = -67594
/// Somebody tried to force the connection back to SSL 2.
public let errSecAppleSSLv2Rollback: OSStatus = -67595
/// The quota is used up.
public let errSecQuotaExceeded: OSStatus = -67596
/// The file is too big.
public let errSecFileTooBig: OSStatus = -67597
/// The record of the database cannot be read.
public let errSecInvalidDatabaseBlob: OSStatus = -67598
/// The record of the key cannot be read.
public let errSecInvalidKeyBlob: OSStatus = -67599
/// The record of the database is of another version.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600
/// The record of the key is of another version.
public let errSecIncompatibleKeyBlob: OSStatus = -67601
/// The certificate is for another host.
public let errSecHostNameMismatch: OSStatus = -67602
/// A critical extension of the certificate is not known.
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603
/// The certificate does not say whether it is an authority's.
public let errSecNoBasicConstraints: OSStatus = -67604
/// The certificate is not an authority's.
public let errSecNoBasicConstraintsCA: OSStatus = -67605
/// The identifier of the authority's key does not fit.
public let errSecInvalidAuthorityKeyID: OSStatus = -67606
/// The identifier of the certificate's key does not fit.
public let errSecInvalidSubjectKeyID: OSStatus = -67607
/// The policy does not allow this use of the key.
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608
/// The certificate is not for this purpose.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// The identifiers in the chain do not fit together.
public let errSecInvalidIDLinkage: OSStatus = -67610
/// The chain of certificates is longer than an authority in it allows.
public let errSecPathLengthConstraintExceeded: OSStatus = -67611
/// The certificate at the root of the chain is not valid.
public let errSecInvalidRoot: OSStatus = -67612
/// The revocation list is out of date.
public let errSecCRLExpired: OSStatus = -67613
/// The revocation list is not valid yet.
public let errSecCRLNotValidYet: OSStatus = -67614
/// There is no revocation list.
public let errSecCRLNotFound: OSStatus = -67615
/// The server of the revocation list does not answer.
public let errSecCRLServerDown: OSStatus = -67616
/// The address of the revocation list is invalid.
public let errSecCRLBadURI: OSStatus = -67617
/// An extension of the certificate is not known.
public let errSecUnknownCertExtension: OSStatus = -67618
/// An extension of the revocation list is not known.
public let errSecUnknownCRLExtension: OSStatus = -67619
/// The revocation list is not trusted.
public let errSecCRLNotTrusted: OSStatus = -67620
/// The revocation list does not meet the policy.
public let errSecCRLPolicyFailed: OSStatus = -67621
/// The revocation list is not for this certificate.
public let errSecIDPFailure: OSStatus = -67622
/// The certificate does not have the mail address that was looked for.
public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67623
/// The certificate is not for mail.
public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67624
/// The key is not for mail.
public let errSecSMIMEBadKeyUsage: OSStatus = -67625
/// The use of the key is not marked critical.
public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67626
/// The certificate has no mail address.
public let errSecSMIMENoEmailAddress: OSStatus = -67627
/// The alternative names of the subject are not marked critical.
public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67628
/// The certificate is not for TLS.
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629
/// The OCSP server's answer is invalid.
public let errSecOCSPBadResponse: OSStatus = -67630
/// The OCSP request is malformed.
public let errSecOCSPBadRequest: OSStatus = -67631
/// The OCSP server does not answer.
public let errSecOCSPUnavailable: OSStatus = -67632
/// The OCSP server does not know the certificate.
public let errSecOCSPStatusUnrecognized: OSStatus = -67633
/// There is no more data.
public let errSecEndOfData: OSStatus = -67634
/// Not every certificate could be checked for revocation.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635
/// The network failed.
public let errSecNetworkFailure: OSStatus = -67636
/// The OCSP answer leads to no root that is trusted.
public let errSecOCSPNotTrustedToAnchor: OSStatus = -67637
/// The record was changed meanwhile.
public let errSecRecordModified: OSStatus = -67638
/// The signature of the OCSP answer does not fit.
public let errSecOCSPSignatureError: OSStatus = -67639
/// The OCSP answer is not signed.
public let errSecOCSPNoSigner: OSStatus = -67640
/// The OCSP server calls the request malformed.
public let errSecOCSPResponderMalformedReq: OSStatus = -67641
/// The OCSP server failed.
public let errSecOCSPResponderInternalError: OSStatus = -67642
/// The OCSP server is busy: try again later.
public let errSecOCSPResponderTryLater: OSStatus = -67643
/// The OCSP server takes signed requests only.
public let errSecOCSPResponderSignatureRequired: OSStatus = -67644
/// The OCSP server does not answer this client.
public let errSecOCSPResponderUnauthorized: OSStatus = -67645
/// The OCSP answer belongs to another request.
public let errSecOCSPResponseNonceMismatch: OSStatus = -67646
/// The chain of the code signature has the wrong length.
public let errSecCodeSigningBadCertChainLength: OSStatus = -67647
/// A certificate of the code signature does not say whether it is an authority's.
public let errSecCodeSigningNoBasicConstraints: OSStatus = -67648
/// The chain of the code signature is longer than allowed.
public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67649
/// The certificate of the code signature does not say what it is for.
public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67650
/// The code was signed for development only.
public let errSecCodeSigningDevelopment: OSStatus = -67651
/// The chain of the resource signature has the wrong length.
public let errSecResourceSignBadCertChainLength: OSStatus = -67652
/// The certificate of the resource signature is not for that.
public let errSecResourceSignBadExtKeyUsage: OSStatus = -67653
/// The trust settings forbid this certificate.
public let errSecTrustSettingDeny: OSStatus = -67654
/// The name of the certificate's subject is empty or malformed.
public let errSecInvalidSubjectName: OSStatus = -67655
/// A statement of the qualified certificate is not known.
public let errSecUnknownQualifiedCertStatement: OSStatus = -67656
