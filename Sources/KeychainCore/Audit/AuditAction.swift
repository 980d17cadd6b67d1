// SPDX-License-Identifier: Apache-2.0

/// What was done. The raw values are part of the format.
package enum AuditAction: UInt8, Sendable {
  case added = 1
  /// Attributes of an item.
  case changed = 2
  case secretChanged = 3
  case deleted = 4
  case slotAdded = 5
  case slotRemoved = 6
  case rollbackAccepted = 7
  case restored = 8
  /// New keys of every kind.
  case rotated = 9

  // What people decide about credentials.
  case consentApproved = 30
  case consentDenied = 31
  case consentExpired = 32
  /// For always.
  case consentGranted = 33
  case consentRevoked = 34
  /// Credentials were given to who may have them by consent.
  case credentialsGiven = 35
  /// They may have them, and had gone when it was agreed to.
  case credentialsNotGiven = 36

  // What the owner of the store decides about border agent ids.
  case routerRemoved = 52
}
