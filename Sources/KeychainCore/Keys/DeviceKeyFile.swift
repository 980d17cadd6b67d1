// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// What lies where the device key belongs.
enum DeviceKeyFile {
  case key(GuardedKey)
  /// Nothing has that name.
  case missing
  /// Something has it, or that cannot be seen. It may well be the right one: nothing is deleted for that.
  case unusable(KeychainError)
}
