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

// Certificates, requests and databases. The numbers are those of SecBase.h.

/// The group of revocation lists is malformed.
public let errSecInvalidCRLGroup: OSStatus = -67816
/// The certificate cannot do that.
public let errSecCertificateCannotOperate: OSStatus = -67817
/// The certificate has expired.
public let errSecCertificateExpired: OSStatus = -67818
/// The certificate is not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// The certificate was revoked.
public let errSecCertificateRevoked: OSStatus = -67820
/// The certificate is suspended.
public let errSecCertificateSuspended: OSStatus = -67821
/// The credentials do not suffice.
public let errSecInsufficientCredentials: OSStatus = -67822
/// There is no such action.
public let errSecInvalidAction: OSStatus = -67823
/// The authority is not valid.
public let errSecInvalidAuthority: OSStatus = -67824
/// The verification of the action failed.
public let errSecVerifyActionFailed: OSStatus = -67825
/// The certificate's authority is not valid.
public let errSecInvalidCertAuthority: OSStatus = -67826
/// The revocation list's authority is not valid.
public let errSecInvalidCRLAuthority: OSStatus = -67827
/// The revocation list's authority is not valid.
public let errSecInvaldCRLAuthority: OSStatus = -67827
/// The encoding of the revocation list is not known.
public let errSecInvalidCRLEncoding: OSStatus = -67828
/// The type of the revocation list is not known.
public let errSecInvalidCRLType: OSStatus = -67829
/// The revocation list is malformed.
public let errSecInvalidCRL: OSStatus = -67830
/// There is no such type of form.
public let errSecInvalidFormType: OSStatus = -67831
/// The identifier is invalid.
public let errSecInvalidID: OSStatus = -67832
/// The identifier is malformed.
public let errSecInvalidIdentifier: OSStatus = -67833
/// The index is out of range.
public let errSecInvalidIndex: OSStatus = -67834
/// The identifiers of the policies make no sense.
public let errSecInvalidPolicyIdentifiers: OSStatus = -67835
/// The time is malformed.
public let errSecInvalidTimeString: OSStatus = -67836
/// The reason is not known.
public let errSecInvalidReason: OSStatus = -67837
/// The inputs of the request make no sense.
public let errSecInvalidRequestInputs: OSStatus = -67838
/// The answer is malformed.
public let errSecInvalidResponseVector: OSStatus = -67839
/// The rule when to stop is invalid.
public let errSecInvalidStopOnPolicy: OSStatus = -67840
/// The tuple is malformed.
public let errSecInvalidTuple: OSStatus = -67841
/// More than one value is not supported.
public let errSecMultipleValuesUnsupported: OSStatus = -67842
/// The certificate is not trusted.
public let errSecNotTrusted: OSStatus = -67843
/// No authority is the default one.
public let errSecNoDefaultAuthority: OSStatus = -67844
/// The form was rejected.
public let errSecRejectedForm: OSStatus = -67845
/// The request was lost.
public let errSecRequestLost: OSStatus = -67846
/// The request was rejected.
public let errSecRequestRejected: OSStatus = -67847
/// This type of address is not supported.
public let errSecUnsupportedAddressType: OSStatus = -67848
/// This service is not supported.
public let errSecUnsupportedService: OSStatus = -67849
/// The group of tuples is malformed.
public let errSecInvalidTupleGroup: OSStatus = -67850
/// The first access control lists are malformed.
public let errSecInvalidBaseACLs: OSStatus = -67851
/// The credentials of the tuples are not accepted.
public let errSecInvalidTupleCredentials: OSStatus = -67852
/// The credentials of the tuples are not accepted.
public let errSecInvalidTupleCredendtials: OSStatus = -67852
/// The encoding is malformed or not known.
public let errSecInvalidEncoding: OSStatus = -67853
/// The validity period is invalid.
public let errSecInvalidValidityPeriod: OSStatus = -67854
/// The one who asks is not known.
public let errSecInvalidRequestor: OSStatus = -67855
/// The description of the request is malformed.
public let errSecRequestDescriptor: OSStatus = -67856
/// The information on the bundle is malformed.
public let errSecInvalidBundleInfo: OSStatus = -67857
/// There is no such entry in the revocation list.
public let errSecInvalidCRLIndex: OSStatus = -67858
/// There are no values for the fields.
public let errSecNoFieldValues: OSStatus = -67859
/// This format of fields is not supported.
public let errSecUnsupportedFieldFormat: OSStatus = -67860
/// This index is not supported.
public let errSecUnsupportedIndexInfo: OSStatus = -67861
/// This locality is not supported.
public let errSecUnsupportedLocality: OSStatus = -67862
/// So many attributes are not supported.
public let errSecUnsupportedNumAttributes: OSStatus = -67863
/// So many indexes are not supported.
public let errSecUnsupportedNumIndexes: OSStatus = -67864
/// So many types of records are not supported.
public let errSecUnsupportedNumRecordTypes: OSStatus = -67865
/// A field is given more than once.
public let errSecFieldSpecifiedMultiple: OSStatus = -67866
/// The formats of the fields do not fit together.
public let errSecIncompatibleFieldFormat: OSStatus = -67867
/// The module that parses is not valid.
public let errSecInvalidParsingModule: OSStatus = -67868
/// The database is locked.
public let errSecDatabaseLocked: OSStatus = -67869
/// The data store is open.
public let errSecDatastoreIsOpen: OSStatus = -67870
/// A value is missing.
public let errSecMissingValue: OSStatus = -67871
/// The limits of the query are not supported.
public let errSecUnsupportedQueryLimits: OSStatus = -67872
/// So many conditions are not supported.
public let errSecUnsupportedNumSelectionPreds: OSStatus = -67873
/// This operator is not supported.
public let errSecUnsupportedOperator: OSStatus = -67874
/// The database lies nowhere.
public let errSecInvalidDBLocation: OSStatus = -67875
/// The request for access is invalid.
public let errSecInvalidAccessRequest: OSStatus = -67876
/// The information on the index is malformed.
public let errSecInvalidIndexInfo: OSStatus = -67877
/// The new owner is not valid.
public let errSecInvalidNewOwner: OSStatus = -67878
/// There is no such way of changing.
public let errSecInvalidModifyMode: OSStatus = -67879
/// A required extension of the certificate is missing.
public let errSecMissingRequiredExtension: OSStatus = -67880
/// The purpose of the certificate is not marked critical.
public let errSecExtendedKeyUsageNotCritical: OSStatus = -67881

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
