// SPDX-License-Identifier: Apache-2.0

import Foundation

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
public final class CFAllocator: Sendable {
  init() {}
}

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
public func CFErrorCopyRecoverySuggestion(_ error: CFError) -> CFString! {
  error.localizedRecoverySuggestion
}
