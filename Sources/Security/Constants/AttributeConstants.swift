// Attributes of items, as keys of a request and of what it returns.

/// A list of programs that may use the item; not supported.
public let kSecAttrAccess: CFString = "acls"
/// A `SecAccessControl`: what has to happen before the secret is given out.
public let kSecAttrAccessControl: CFString = "accc"
/// The access group, a text.
public let kSecAttrAccessGroup: CFString = "agrp"
/// When the secret can be had: one of `kSecAttrAccessible…`.
public let kSecAttrAccessible: CFString = "pdmn"
/// The account name.
public let kSecAttrAccount: CFString = "acct"
/// Of a key, data: for a pair of keys the hash of the public one.
public let kSecAttrApplicationLabel: CFString = "klbl"
/// Of a key, data of the program's own.
public let kSecAttrApplicationTag: CFString = "atag"
/// Of an internet password: one of `kSecAttrAuthenticationType…`.
public let kSecAttrAuthenticationType: CFString = "atyp"
/// Of a key, a truth value: whether it decrypts.
public let kSecAttrCanDecrypt: CFString = "decr"
/// Of a key, a truth value: whether other keys can be derived from it.
public let kSecAttrCanDerive: CFString = "drve"
/// Of a key, a truth value: whether it encrypts.
public let kSecAttrCanEncrypt: CFString = "encr"
/// Of a key, a truth value: whether it signs.
public let kSecAttrCanSign: CFString = "sign"
/// Of a key, a truth value: whether it unwraps other keys.
public let kSecAttrCanUnwrap: CFString = "unwp"
/// Of a key, a truth value: whether it verifies signatures.
public let kSecAttrCanVerify: CFString = "vrfy"
/// Of a key, a truth value: whether it wraps other keys.
public let kSecAttrCanWrap: CFString = "wrap"
/// Of a certificate, a number: 3 is DER.
public let kSecAttrCertificateEncoding: CFString = "cenc"
/// Of a certificate, a number: 1 and 3 are the versions of X.509.
public let kSecAttrCertificateType: CFString = "ctyp"
/// A comment that a person can edit.
public let kSecAttrComment: CFString = "icmt"
/// The date on which the item was added; stamped by the keychain.
public let kSecAttrCreationDate: CFString = "cdat"
/// Who made the item: four characters as a number.
public let kSecAttrCreator: CFString = "crtr"
/// The kind of item, as a person would call it.
public let kSecAttrDescription: CFString = "desc"
/// Of a key, a number: the bits that count.
public let kSecAttrEffectiveKeySize: CFString = "esiz"
/// Data of the program's own; not part of the primary key.
public let kSecAttrGeneric: CFString = "gena"
/// Of a key, a truth value: whether it may leave the keychain.
public let kSecAttrIsExtractable: CFString = "extr"
/// A truth value: whether lists for people leave it out.
public let kSecAttrIsInvisible: CFString = "invi"
/// A truth value: whether there is no valid password and people should be asked.
public let kSecAttrIsNegative: CFString = "nega"
/// Of a key, a truth value: whether it is stored.
public let kSecAttrIsPermanent: CFString = "perm"
/// Of a key, a truth value: whether it leaves the keychain wrapped only.
public let kSecAttrIsSensitive: CFString = "sens"
/// Of a certificate, data: the DER of its issuer's name.
public let kSecAttrIssuer: CFString = "issr"
/// Of a key: public, private or symmetric.
public let kSecAttrKeyClass: CFString = "kcls"
/// Of a key, a number: all its bits.
public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// Of a key: one of `kSecAttrKeyType…`.
public let kSecAttrKeyType: CFString = "type"
/// What people see; not part of the primary key.
public let kSecAttrLabel: CFString = "labl"
/// The date of the last change; stamped by the keychain.
public let kSecAttrModificationDate: CFString = "mdat"
/// For deriving a key from a password: the pseudorandom function.
public let kSecAttrPRF: CFString = "prf"
/// Of an internet password: the path.
public let kSecAttrPath: CFString = "path"
/// The persistent reference of an item; the name is misspelt in the original.
public let kSecAttrPersistantReference: CFString = "persistref"
/// The persistent reference of an item.
public let kSecAttrPersistentReference: CFString = "persistref"
/// Of an internet password, a number: the port.
public let kSecAttrPort: CFString = "port"
/// Of an internet password: one of `kSecAttrProtocol…`.
public let kSecAttrProtocol: CFString = "ptcl"
/// Of a certificate, data: the SHA-1 of its public key.
public let kSecAttrPublicKeyHash: CFString = "pkhh"
/// For deriving a key from a password: how often.
public let kSecAttrRounds: CFString = "rounds"
/// For deriving a key from a password: the salt.
public let kSecAttrSalt: CFString = "salt"
/// Of an internet password: the security domain.
public let kSecAttrSecurityDomain: CFString = "sdmn"
/// Of a certificate, data: its serial number.
public let kSecAttrSerialNumber: CFString = "slnr"
/// Of an internet password: the server.
public let kSecAttrServer: CFString = "srvr"
/// Of a generic password: the service.
public let kSecAttrService: CFString = "svce"
/// Of a certificate, data: the DER of its subject's name.
public let kSecAttrSubject: CFString = "subj"
/// Of a certificate, data: the identifier of its key.
public let kSecAttrSubjectKeyID: CFString = "skid"
/// A hint for synchronization, a text; kept and not used.
public let kSecAttrSyncViewHint: CFString = "vwht"
/// Whether the item may leave this machine: true, false or, in a search, any.
public let kSecAttrSynchronizable: CFString = "sync"
/// The token that holds the item, a text; kept and not used.
public let kSecAttrTokenID: CFString = "tkid"
/// The type of item: four characters as a number.
public let kSecAttrType: CFString = "type"

// Classes of items.

/// Key of a request: the class of items.
public let kSecClass: CFString = "class"
/// A password for anything; its primary key is account and service.
public let kSecClassGenericPassword: CFString = "genp"
/// A password for a server.
public let kSecClassInternetPassword: CFString = "inet"
/// A certificate.
public let kSecClassCertificate: CFString = "cert"
/// A cryptographic key.
public let kSecClassKey: CFString = "keys"
/// A certificate joined to its private key.
public let kSecClassIdentity: CFString = "idnt"

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
