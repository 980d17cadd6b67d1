// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Tells the types of objects apart. The numbers mean nothing, and may change.
public typealias CFTypeID = UInt

private enum KnownType: CFTypeID {
  case other, string, data, number, truth, date, array, dictionary, set, null, error
  case certificate, key, identity, accessControl

  init(_ object: AnyObject?) {
    self =
      switch object {
      case is SecCertificate: .certificate
      case is SecKey: .key
      case is SecIdentity: .identity
      case is SecAccessControl: .accessControl
      case is NSString: .string
      case is NSData: .data
      case let number as NSNumber: Self.isTruth(number) ? .truth : .number
      case is NSDate: .date
      case is NSArray: .array
      case is NSDictionary: .dictionary
      case is NSSet: .set
      case is NSNull: .null
      case is NSError: .error
      default: .other
      }
  }

  /// Of all numbers of Foundation only those that were made of a truth value say "c".
  private static func isTruth(_ number: NSNumber) -> Bool {
    String(cString: number.objCType) == "c"
  }
}

/// The type of an object, for example of a result.
public func CFGetTypeID(_ cf: CFTypeRef?) -> CFTypeID { KnownType(cf).rawValue }

/// The type of texts.
public func CFStringGetTypeID() -> CFTypeID { KnownType.string.rawValue }
/// The type of bytes.
public func CFDataGetTypeID() -> CFTypeID { KnownType.data.rawValue }
/// The type of numbers; the truth values among the attributes of an item come back as numbers.
public func CFNumberGetTypeID() -> CFTypeID { KnownType.number.rawValue }
/// The type of truth values.
public func CFBooleanGetTypeID() -> CFTypeID { KnownType.truth.rawValue }
/// The type of moments.
public func CFDateGetTypeID() -> CFTypeID { KnownType.date.rawValue }
/// The type of arrays.
public func CFArrayGetTypeID() -> CFTypeID { KnownType.array.rawValue }
/// The type of dictionaries.
public func CFDictionaryGetTypeID() -> CFTypeID { KnownType.dictionary.rawValue }
/// The type of sets.
public func CFSetGetTypeID() -> CFTypeID { KnownType.set.rawValue }
/// The type of nothing.
public func CFNullGetTypeID() -> CFTypeID { KnownType.null.rawValue }
/// The type of errors.
public func CFErrorGetTypeID() -> CFTypeID { KnownType.error.rawValue }
/// The type of certificates.
public func SecCertificateGetTypeID() -> CFTypeID { KnownType.certificate.rawValue }
/// The type of keys.
public func SecKeyGetTypeID() -> CFTypeID { KnownType.key.rawValue }
/// The type of identities.
public func SecIdentityGetTypeID() -> CFTypeID { KnownType.identity.rawValue }
/// The type of access controls.
public func SecAccessControlGetTypeID() -> CFTypeID { KnownType.accessControl.rawValue }

/// Whether two objects say the same.
public func CFEqual(_ cf1: CFTypeRef?, _ cf2: CFTypeRef?) -> Bool {
  switch (cf1, cf2) {
  case (let one as SecCertificate, let other as SecCertificate): one == other
  case (let one as SecKey, let other as SecKey): one == other
  case (let one as SecIdentity, let other as SecIdentity): one == other
  case (let one as SecAccessControl, let other as SecAccessControl): one == other
  case (let one as NSObject, let other as NSObject): one.isEqual(other)
  default: cf1 === cf2
  }
}
