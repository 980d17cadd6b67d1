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
  private static func isTruth(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
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

// Names of Core Foundation that programs use around the keychain. On Linux they are Swift's own
// types, so `query as CFDictionary`, `kSecClass as String` and `result as? Data` work as they stand.

/// An array of values.
public typealias CFArray = [Any]
/// A truth value.
public typealias CFBoolean = Bool
/// Bytes.
public typealias CFData = Data
/// A moment.
public typealias CFDate = Date
/// What a call says, by key.
public typealias CFDictionary = [String: Any]
/// An error.
public typealias CFError = NSError
/// A position or a count.
public typealias CFIndex = Int
/// Nothing, where a value has to be.
public typealias CFNull = NSNull
/// A number.
public typealias CFNumber = NSNumber
/// A set of flags.
public typealias CFOptionFlags = UInt
/// A set of values.
public typealias CFSet = Set<AnyHashable>
/// A text.
public typealias CFString = String
/// Any object: what a call hands back.
public typealias CFTypeRef = AnyObject

/// True.
public let kCFBooleanTrue: CFBoolean! = true
/// False.
public let kCFBooleanFalse: CFBoolean! = false

/// Nothing. No attribute can have it: a query or an item that says it is refused.
public let kCFNull: CFNull! = CFNull()

/// Whether it is true.
public func CFBooleanGetValue(_ boolean: CFBoolean) -> Bool { boolean }

/// Where `Bundle.infoDictionary` says the identifier: many programs name their service after it.
public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
/// Where `Bundle.infoDictionary` says the name.
public let kCFBundleNameKey: CFString! = "CFBundleName"
/// Where `Bundle.infoDictionary` says the version.
public let kCFBundleVersionKey: CFString! = "CFBundleVersion"
/// Where `Bundle.infoDictionary` says the name of the executable.
public let kCFBundleExecutableKey: CFString! = "CFBundleExecutable"

/// Stands for a way to allocate memory. Linux has one, so there is nothing to choose: give nil.
public final class CFAllocator: Sendable { init() {} }

/// The usual way to allocate memory.
public let kCFAllocatorDefault: CFAllocator! = nil

/// What a call answers: 0, or the number of an error.
public typealias OSStatus = Int32

/// Done: there was no error.
public let noErr: OSStatus = 0

/// Four characters as a number: what the creator and the type of an item are, as 0x68747073 for
/// "htps".
public typealias FourCharCode = UInt32
/// The type of something as four characters.
public typealias OSType = FourCharCode

/// The domain of an error: for those of this library `NSOSStatusErrorDomain`.
public func CFErrorGetDomain(_ error: CFError) -> CFString! { error.domain }

/// The code of an error within its domain.
public func CFErrorGetCode(_ error: CFError) -> CFIndex { error.code }

/// What else is known of an error.
public func CFErrorCopyUserInfo(_ error: CFError) -> CFDictionary! { error.userInfo }

/// What the error says, for people.
public func CFErrorCopyDescription(_ error: CFError) -> CFString! { error.localizedDescription }

/// Why it happened, for people; nil when the error does not say.
public func CFErrorCopyFailureReason(_ error: CFError) -> CFString! { error.localizedFailureReason }

/// What can be done, for people; nil when the error does not say.
public func CFErrorCopyRecoverySuggestion(_ error: CFError) -> CFString! { error.localizedRecoverySuggestion }
