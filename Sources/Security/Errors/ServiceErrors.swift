// SPDX-License-Identifier: Apache-2.0

// Time stamps, late additions on certificates, and the discontinued MobileMe service. The numbers are those of SecBase.h.

/// The time stamp is missing.
public let errSecTimestampMissing: OSStatus = -67882
/// The time stamp does not fit.
public let errSecTimestampInvalid: OSStatus = -67883
/// The time stamp is not trusted.
public let errSecTimestampNotTrusted: OSStatus = -67884
/// The time stamp service does not answer.
public let errSecTimestampServiceNotAvailable: OSStatus = -67885
/// The time stamp service does not support the algorithm.
public let errSecTimestampBadAlg: OSStatus = -67886
/// The time stamp service does not permit the request.
public let errSecTimestampBadRequest: OSStatus = -67887
/// The time stamp service cannot read the data.
public let errSecTimestampBadDataFormat: OSStatus = -67888
/// The time stamp service has no time.
public let errSecTimestampTimeNotAvailable: OSStatus = -67889
/// The time stamp service does not support the policy.
public let errSecTimestampUnacceptedPolicy: OSStatus = -67890
/// The time stamp service does not support an extension.
public let errSecTimestampUnacceptedExtension: OSStatus = -67891
/// The time stamp service does not have the additional information.
public let errSecTimestampAddInfoNotAvailable: OSStatus = -67892
/// The time stamp service failed.
public let errSecTimestampSystemFailure: OSStatus = -67893
/// The time of signing is missing.
public let errSecSigningTimeMissing: OSStatus = -67894
/// The time stamp service refused.
public let errSecTimestampRejection: OSStatus = -67895
/// The time stamp service has not decided yet.
public let errSecTimestampWaiting: OSStatus = -67896
/// The time stamp's certificate is about to be revoked.
public let errSecTimestampRevocationWarning: OSStatus = -67897
/// The time stamp's certificate was revoked.
public let errSecTimestampRevocationNotification: OSStatus = -67898
/// A policy of the certificate is not allowed.
public let errSecCertificatePolicyNotAllowed: OSStatus = -67899
/// A name in the certificate is not allowed.
public let errSecCertificateNameNotAllowed: OSStatus = -67900
/// The certificate is valid for longer than allowed.
public let errSecCertificateValidityPeriodTooLong: OSStatus = -67901
/// The certificate is an authority's, and should not be.
public let errSecCertificateIsCA: OSStatus = -67902
/// The certificate has an extension more than once.
public let errSecCertificateDuplicateExtension: OSStatus = -67903
/// A statement of the qualified certificate is missing.
public let errSecMissingQualifiedCertStatement: OSStatus = -67904
/// The request to MobileMe was queued.
public let errSecMobileMeRequestQueued: OSStatus = -67657
/// The request to MobileMe was sent on to another server.
public let errSecMobileMeRequestRedirected: OSStatus = -67658
/// MobileMe answered with an error.
public let errSecMobileMeServerError: OSStatus = -67659
/// MobileMe does not answer.
public let errSecMobileMeServerNotAvailable: OSStatus = -67660
/// MobileMe has this already.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661
/// A service of MobileMe failed.
public let errSecMobileMeServerServiceErr: OSStatus = -67662
/// There is a request to MobileMe under way already.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663
/// There is no request to MobileMe under way.
public let errSecMobileMeNoRequestPending: OSStatus = -67664
/// MobileMe refused the certificate request's signature.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665
/// MobileMe found a contradiction.
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666
