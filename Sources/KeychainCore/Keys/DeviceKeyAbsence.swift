// SPDX-License-Identifier: Apache-2.0

/// Why the device key that a record takes is not here.
enum DeviceKeyAbsence: Error {
  /// There is no such file.
  case missing
  /// The file has another's.
  case another
  /// Something is there, and it may be the right one.
  case unusable(KeychainError)

  /// For a person; nil where there is nothing to see in the file's place.
  var problem: String? {
    switch self {
    case .missing: nil
    case .another: DeviceKey.isAnother().message
    case .unusable(let reason): reason.message
    }
  }
}
