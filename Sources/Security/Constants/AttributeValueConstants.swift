// SPDX-License-Identifier: Apache-2.0

// Values of attributes.

/// In a search: whether synchronizable or not.
public let kSecAttrSynchronizableAny: CFString = "syna"
/// While the keychain is unlocked; the default.
public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// Once the keychain has been unlocked since the start.
public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Always.
public let kSecAttrAccessibleAlways: CFString = "dk"
/// While unlocked and as long as there is a passphrase; on this device only.
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
/// While the keychain is unlocked; on this device only.
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// Once it has been unlocked since the start; on this device only.
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// Always; on this device only.
public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
/// The access group of items on tokens.
public let kSecAttrAccessGroupToken: CFString = "com.apple.token"
/// The Secure Enclave, which there is not on Linux.
public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
/// A public key.
public let kSecAttrKeyClassPublic: CFString = "0"
/// A private key.
public let kSecAttrKeyClassPrivate: CFString = "1"
/// A symmetric key.
public let kSecAttrKeyClassSymmetric: CFString = "2"
/// RSA.
public let kSecAttrKeyTypeRSA: CFString = "42"
/// DSA.
public let kSecAttrKeyTypeDSA: CFString = "43"
/// AES.
public let kSecAttrKeyTypeAES: CFString = "2147483649"
/// DES.
public let kSecAttrKeyTypeDES: CFString = "14"
/// Triple DES.
public let kSecAttrKeyType3DES: CFString = "17"
/// RC4.
public let kSecAttrKeyTypeRC4: CFString = "25"
/// RC2.
public let kSecAttrKeyTypeRC2: CFString = "23"
/// CAST.
public let kSecAttrKeyTypeCAST: CFString = "56"
/// An elliptic curve, for signatures.
public let kSecAttrKeyTypeECDSA: CFString = "73"
/// An elliptic curve.
public let kSecAttrKeyTypeEC: CFString = "73"
/// An elliptic curve over a prime field.
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// HMAC with SHA-1.
public let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"
/// HMAC with SHA-224.
public let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"
/// HMAC with SHA-256.
public let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"
/// HMAC with SHA-384.
public let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"
/// HMAC with SHA-512.
public let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"
