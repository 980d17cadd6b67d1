// SPDX-License-Identifier: Apache-2.0

// Names around keys and PKCS #12 files. No call of this library uses them: they are there for the
// programs that list them.

/// For a pair of keys: what the private one gets.
public let kSecPrivateKeyAttrs: CFString = "private"
/// For a pair of keys: what the public one gets.
public let kSecPublicKeyAttrs: CFString = "public"
/// The password of a shared web credential.
public let kSecSharedPassword: CFString = "spwd"
/// The passphrase of a file that is imported or exported.
public let kSecImportExportPassphrase: CFString = "passphrase"
/// The keychain to import to.
public let kSecImportExportKeychain: CFString = "keychain"
/// The access list of what is imported.
public let kSecImportExportAccess: CFString = "access"
/// The label of what was imported.
public let kSecImportItemLabel: CFString = "label"
/// The identifier of an imported key.
public let kSecImportItemKeyID: CFString = "keyid"
/// The trust in an imported certificate.
public let kSecImportItemTrust: CFString = "trust"
/// The certificates that were imported.
public let kSecImportItemCertChain: CFString = "chain"
/// The identity that was imported.
public let kSecImportItemIdentity: CFString = "identity"
