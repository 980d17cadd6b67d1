// SPDX-License-Identifier: Apache-2.0

/// What a call answers: 0, or the number of an error.
public typealias OSStatus = Int32

/// Done: there was no error.
public let noErr: OSStatus = 0
