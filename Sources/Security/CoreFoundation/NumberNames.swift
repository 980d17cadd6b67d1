// SPDX-License-Identifier: Apache-2.0

/// What a call answers: 0, or the number of an error.
public typealias OSStatus = Int32

/// Done: there was no error.
public let noErr: OSStatus = 0

/// Four characters as a number: what the creator and the type of an item are, as 0x68747073 for
/// "htps".
public typealias FourCharCode = UInt32
/// The type of something as four characters.
public typealias OSType = FourCharCode
