// SPDX-License-Identifier: Apache-2.0

// Modules and their calls. The numbers are those of SecBase.h.

/// The module was not initialized.
public let errSecNotInitialized: OSStatus = -67667
/// The handle is not for this service.
public let errSecInvalidHandleUsage: OSStatus = -67668
/// The caller could not be found.
public let errSecPVCReferentNotFound: OSStatus = -67669
/// The function's address is outside of its module.
public let errSecFunctionIntegrityFail: OSStatus = -67670
/// There is a defect in the software.
public let errSecInternalError: OSStatus = -67671
/// The memory cannot be used.
public let errSecMemoryError: OSStatus = -67672
/// The data is malformed.
public let errSecInvalidData: OSStatus = -67673
/// The directory of modules failed.
public let errSecMDSError: OSStatus = -67674
/// A pointer leads nowhere.
public let errSecInvalidPointer: OSStatus = -67675
/// The module's check of itself failed.
public let errSecSelfCheckFailed: OSStatus = -67676
/// The function failed.
public let errSecFunctionFailed: OSStatus = -67677
/// The module's manifest could not be verified.
public let errSecModuleManifestVerifyFailed: OSStatus = -67678
/// The GUID is malformed.
public let errSecInvalidGUID: OSStatus = -67679
/// There is no such handle.
public let errSecInvalidHandle: OSStatus = -67680
/// The list of databases is malformed.
public let errSecInvalidDBList: OSStatus = -67681
/// There is no such pass-through function.
public let errSecInvalidPassthroughID: OSStatus = -67682
/// The network address is malformed.
public let errSecInvalidNetworkAddress: OSStatus = -67683
/// The revocation list is signed already.
public let errSecCRLAlreadySigned: OSStatus = -67684
/// The number of fields is wrong.
public let errSecInvalidNumberOfFields: OSStatus = -67685
/// The verification failed.
public let errSecVerificationFailure: OSStatus = -67686
/// The tag is not known.
public let errSecUnknownTag: OSStatus = -67687
/// The signature does not fit.
public let errSecInvalidSignature: OSStatus = -67688
/// The name is malformed.
public let errSecInvalidName: OSStatus = -67689
/// The reference names no certificate.
public let errSecInvalidCertificateRef: OSStatus = -67690
/// The group of certificates is malformed.
public let errSecInvalidCertificateGroup: OSStatus = -67691
/// There is no such tag.
public let errSecTagNotFound: OSStatus = -67692
/// The query is malformed.
public let errSecInvalidQuery: OSStatus = -67693
/// The value is invalid.
public let errSecInvalidValue: OSStatus = -67694
/// A callback failed.
public let errSecCallbackFailed: OSStatus = -67695
/// The access control list could not be deleted.
public let errSecACLDeleteFailed: OSStatus = -67696
/// The access control list could not be replaced.
public let errSecACLReplaceFailed: OSStatus = -67697
/// The access control list could not be extended.
public let errSecACLAddFailed: OSStatus = -67698
/// The access control list could not be changed.
public let errSecACLChangeFailed: OSStatus = -67699
/// The credentials are malformed or not accepted.
public let errSecInvalidAccessCredentials: OSStatus = -67700
/// The record is malformed.
public let errSecInvalidRecord: OSStatus = -67701
/// The access control list is malformed.
public let errSecInvalidACL: OSStatus = -67702
/// The sample is malformed.
public let errSecInvalidSampleValue: OSStatus = -67703
/// The versions do not fit together.
public let errSecIncompatibleVersion: OSStatus = -67704
/// The privilege was not granted.
public let errSecPrivilegeNotGranted: OSStatus = -67705
/// There is no such scope.
public let errSecInvalidScope: OSStatus = -67706
/// The check of callers is configured already.
public let errSecPVCAlreadyConfigured: OSStatus = -67707
/// The check of callers is malformed.
public let errSecInvalidPVC: OSStatus = -67708
/// The manager of modules could not be loaded.
public let errSecEMMLoadFailed: OSStatus = -67709
/// The manager of modules could not be unloaded.
public let errSecEMMUnloadFailed: OSStatus = -67710
/// The add-in could not be loaded.
public let errSecAddinLoadFailed: OSStatus = -67711
/// The reference names no key.
public let errSecInvalidKeyRef: OSStatus = -67712
/// The hierarchy of keys is invalid.
public let errSecInvalidKeyHierarchy: OSStatus = -67713
/// The add-in could not be unloaded.
public let errSecAddinUnloadFailed: OSStatus = -67714
/// There is no such library.
public let errSecLibraryReferenceNotFound: OSStatus = -67715
/// The functions of the add-in are malformed.
public let errSecInvalidAddinFunctionTable: OSStatus = -67716
/// The mask names no service.
public let errSecInvalidServiceMask: OSStatus = -67717
/// The module is not loaded.
public let errSecModuleNotLoaded: OSStatus = -67718
/// There is no such sub-service.
public let errSecInvalidSubServiceID: OSStatus = -67719
/// The context has no such attribute.
public let errSecAttributeNotInContext: OSStatus = -67720
/// The manager of modules could not be initialized.
public let errSecModuleManagerInitializeFailed: OSStatus = -67721
/// There is no manager of modules.
public let errSecModuleManagerNotFound: OSStatus = -67722
/// There is no callback for events.
public let errSecEventNotificationCallbackNotFound: OSStatus = -67723
/// The input has the wrong length.
public let errSecInputLengthError: OSStatus = -67724
/// The output has the wrong length.
public let errSecOutputLengthError: OSStatus = -67725
/// The privilege is not supported.
public let errSecPrivilegeNotSupported: OSStatus = -67726
/// The device reported an error.
public let errSecDeviceError: OSStatus = -67727
/// The handle is in use.
public let errSecAttachHandleBusy: OSStatus = -67728
/// Nobody is logged in.
public let errSecNotLoggedIn: OSStatus = -67729
