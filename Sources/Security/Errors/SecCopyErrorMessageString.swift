// SPDX-License-Identifier: Apache-2.0

/// The meaning of a status as an English sentence; for one that is not known, its number.
///
/// - Parameters:
///   - status: what a call of this library answered.
///   - reserved: nil.
public func SecCopyErrorMessageString(
  _ status: OSStatus, _ reserved: UnsafeMutableRawPointer?
) -> CFString? {
  ErrorMessages.message(of: status) ?? "OSStatus \(status)"
}
