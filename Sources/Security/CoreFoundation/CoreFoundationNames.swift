// SPDX-License-Identifier: Apache-2.0

import Foundation

// Names of Core Foundation that programs use around the keychain. On Linux they are Swift's own
// types, so `query as CFDictionary`, `kSecClass as String` and `result as? Data` work as they stand.

/// An array of values.
public typealias CFArray = [Any]
/// A truth value.
public typealias CFBoolean = Bool
/// Octets.
public typealias CFData = Data
/// A moment.
public typealias CFDate = Date
/// What a call says, by key.
public typealias CFDictionary = [String: Any]
/// An error.
public typealias CFError = NSError
/// A position or a count.
public typealias CFIndex = Int
/// A number.
public typealias CFNumber = NSNumber
/// A set of flags.
public typealias CFOptionFlags = UInt
/// A text.
public typealias CFString = String
/// Any object: what a call hands back.
public typealias CFTypeRef = AnyObject

/// True.
public let kCFBooleanTrue: CFBoolean! = true
/// False.
public let kCFBooleanFalse: CFBoolean! = false
