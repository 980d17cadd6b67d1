// SPDX-License-Identifier: Apache-2.0

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
