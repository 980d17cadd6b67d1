// SPDX-License-Identifier: Apache-2.0

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
