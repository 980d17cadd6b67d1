// SPDX-License-Identifier: Apache-2.0

import Foundation

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
