// Keys, algorithms and their parameters. The numbers are those of SecBase.h.

/// The key is not for this algorithm.
public let errSecAlgorithmMismatch: OSStatus = -67730
/// The key is not for this use.
public let errSecKeyUsageIncorrect: OSStatus = -67731
/// The key's record is of the wrong type.
public let errSecKeyBlobTypeIncorrect: OSStatus = -67732
/// The key's header contradicts itself.
public let errSecKeyHeaderInconsistent: OSStatus = -67733
/// This format of keys is not supported.
public let errSecUnsupportedKeyFormat: OSStatus = -67734
/// This size of keys is not supported.
public let errSecUnsupportedKeySize: OSStatus = -67735
/// The uses of the key make no sense.
public let errSecInvalidKeyUsageMask: OSStatus = -67736
/// The uses of the key are not supported.
public let errSecUnsupportedKeyUsageMask: OSStatus = -67737
/// The attributes of the key make no sense.
public let errSecInvalidKeyAttributeMask: OSStatus = -67738
/// The attributes of the key are not supported.
public let errSecUnsupportedKeyAttributeMask: OSStatus = -67739
/// The label of the key is malformed.
public let errSecInvalidKeyLabel: OSStatus = -67740
/// The label of the key is not supported.
public let errSecUnsupportedKeyLabel: OSStatus = -67741
/// The format of the key is invalid.
public let errSecInvalidKeyFormat: OSStatus = -67742
/// More than one buffer is not supported.
public let errSecUnsupportedVectorOfBuffers: OSStatus = -67743
/// The input buffers are malformed.
public let errSecInvalidInputVector: OSStatus = -67744
/// The output buffers are malformed.
public let errSecInvalidOutputVector: OSStatus = -67745
/// The context is invalid.
public let errSecInvalidContext: OSStatus = -67746
/// There is no such algorithm.
public let errSecInvalidAlgorithm: OSStatus = -67747
/// The key is invalid.
public let errSecInvalidAttributeKey: OSStatus = -67748
/// The key is missing.
public let errSecMissingAttributeKey: OSStatus = -67749
/// The initialization vector is invalid.
public let errSecInvalidAttributeInitVector: OSStatus = -67750
/// The initialization vector is missing.
public let errSecMissingAttributeInitVector: OSStatus = -67751
/// The salt is invalid.
public let errSecInvalidAttributeSalt: OSStatus = -67752
/// The salt is missing.
public let errSecMissingAttributeSalt: OSStatus = -67753
/// The padding is invalid.
public let errSecInvalidAttributePadding: OSStatus = -67754
/// The padding is missing.
public let errSecMissingAttributePadding: OSStatus = -67755
/// The random data is invalid.
public let errSecInvalidAttributeRandom: OSStatus = -67756
/// The random data is missing.
public let errSecMissingAttributeRandom: OSStatus = -67757
/// The seed is invalid.
public let errSecInvalidAttributeSeed: OSStatus = -67758
/// The seed is missing.
public let errSecMissingAttributeSeed: OSStatus = -67759
/// The passphrase is invalid.
public let errSecInvalidAttributePassphrase: OSStatus = -67760
/// The passphrase is missing.
public let errSecMissingAttributePassphrase: OSStatus = -67761
/// The key length is invalid.
public let errSecInvalidAttributeKeyLength: OSStatus = -67762
/// The key length is missing.
public let errSecMissingAttributeKeyLength: OSStatus = -67763
/// The block size is invalid.
public let errSecInvalidAttributeBlockSize: OSStatus = -67764
/// The block size is missing.
public let errSecMissingAttributeBlockSize: OSStatus = -67765
/// The output size is invalid.
public let errSecInvalidAttributeOutputSize: OSStatus = -67766
/// The output size is missing.
public let errSecMissingAttributeOutputSize: OSStatus = -67767
/// The number of rounds is invalid.
public let errSecInvalidAttributeRounds: OSStatus = -67768
/// The number of rounds is missing.
public let errSecMissingAttributeRounds: OSStatus = -67769
/// The parameters of the algorithm are invalid.
public let errSecInvalidAlgorithmParms: OSStatus = -67770
/// The parameters of the algorithm is missing.
public let errSecMissingAlgorithmParms: OSStatus = -67771
/// The label is invalid.
public let errSecInvalidAttributeLabel: OSStatus = -67772
/// The label is missing.
public let errSecMissingAttributeLabel: OSStatus = -67773
/// The key type is invalid.
public let errSecInvalidAttributeKeyType: OSStatus = -67774
/// The key type is missing.
public let errSecMissingAttributeKeyType: OSStatus = -67775
/// The mode is invalid.
public let errSecInvalidAttributeMode: OSStatus = -67776
/// The mode is missing.
public let errSecMissingAttributeMode: OSStatus = -67777
/// The number of effective bits is invalid.
public let errSecInvalidAttributeEffectiveBits: OSStatus = -67778
/// The number of effective bits is missing.
public let errSecMissingAttributeEffectiveBits: OSStatus = -67779
/// The start date is invalid.
public let errSecInvalidAttributeStartDate: OSStatus = -67780
/// The start date is missing.
public let errSecMissingAttributeStartDate: OSStatus = -67781
/// The end date is invalid.
public let errSecInvalidAttributeEndDate: OSStatus = -67782
/// The end date is missing.
public let errSecMissingAttributeEndDate: OSStatus = -67783
/// The version is invalid.
public let errSecInvalidAttributeVersion: OSStatus = -67784
/// The version is missing.
public let errSecMissingAttributeVersion: OSStatus = -67785
/// The prime is invalid.
public let errSecInvalidAttributePrime: OSStatus = -67786
/// The prime is missing.
public let errSecMissingAttributePrime: OSStatus = -67787
/// The base is invalid.
public let errSecInvalidAttributeBase: OSStatus = -67788
/// The base is missing.
public let errSecMissingAttributeBase: OSStatus = -67789
/// The subprime is invalid.
public let errSecInvalidAttributeSubprime: OSStatus = -67790
/// The subprime is missing.
public let errSecMissingAttributeSubprime: OSStatus = -67791
/// The number of iterations is invalid.
public let errSecInvalidAttributeIterationCount: OSStatus = -67792
/// The number of iterations is missing.
public let errSecMissingAttributeIterationCount: OSStatus = -67793
/// The database handle is invalid.
public let errSecInvalidAttributeDLDBHandle: OSStatus = -67794
/// The database handle is missing.
public let errSecMissingAttributeDLDBHandle: OSStatus = -67795
/// The access credentials are invalid.
public let errSecInvalidAttributeAccessCredentials: OSStatus = -67796
/// The access credentials is missing.
public let errSecMissingAttributeAccessCredentials: OSStatus = -67797
/// The format of public keys is invalid.
public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67798
/// The format of public keys is missing.
public let errSecMissingAttributePublicKeyFormat: OSStatus = -67799
/// The format of private keys is invalid.
public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67800
/// The format of private keys is missing.
public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67801
/// The format of symmetric keys is invalid.
public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67802
/// The format of symmetric keys is missing.
public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67803
/// The format of wrapped keys is invalid.
public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67804
/// The format of wrapped keys is missing.
public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67805
/// An operation in stages is under way.
public let errSecStagedOperationInProgress: OSStatus = -67806
/// No operation in stages is under way.
public let errSecStagedOperationNotStarted: OSStatus = -67807
/// The signature or code does not fit the data.
public let errSecVerifyFailed: OSStatus = -67808
/// The size of the result is not known in advance.
public let errSecQuerySizeUnknown: OSStatus = -67809
/// The data does not fill whole blocks.
public let errSecBlockSizeMismatch: OSStatus = -67810
/// The public key contradicts the private one.
public let errSecPublicKeyInconsistent: OSStatus = -67811
/// The device could not be verified.
public let errSecDeviceVerifyFailed: OSStatus = -67812
/// There is no such login name.
public let errSecInvalidLoginName: OSStatus = -67813
/// Somebody is logged in already.
public let errSecAlreadyLoggedIn: OSStatus = -67814
/// There is no such digest algorithm.
public let errSecInvalidDigestAlgorithm: OSStatus = -67815

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
