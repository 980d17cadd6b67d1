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
