// SPDX-License-Identifier: Apache-2.0

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
