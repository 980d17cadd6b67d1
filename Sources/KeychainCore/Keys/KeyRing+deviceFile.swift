// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file of the device key, and whether it is the one in use.
extension KeyRing {
  func deviceKeyFile() throws -> DeviceKeyFile {
    let path = devicePath
    var status = stat()
    // Of itself: a link to nothing is not nothing.
    if lstat(path, &status) != 0, errno == ENOENT { return .missing }
    do {
      let bytes = try KeyFile.read(path)
      let key = try arena.key { memory in bytes.withUnsafeBytes { memory.copyMemory(from: $0) } }
      return .key(key)
    } catch let error as KeychainError {
      // The store itself did open, so what is wrong is not the way into it.
      let isOfTheFile = error.status == .authFailed || error.status == .writePermission
      return .unusable(isOfTheFile ? KeychainError(.notAvailable, error.message) : error)
    }
  }

  /// Before keys are re-wrapped: the device key in memory must be what the file has. Only with the file
  /// do they open again after the next start.
  ///
  /// - Parameter opens: whether a record of the store opens with it.
  /// - Returns: whether the file was missing, and is written again.
  /// - Throws: `notAvailable` when another file is in its place, or one that cannot be used.
  func confirmDeviceKey(_ opens: (GuardedKey) throws -> Bool) throws -> Bool {
    let keyID = KeyID(.device, epoch: 1)
    guard let key = loaded.withLock({ $0.keys[keyID] }) else { return false }
    let file = try deviceKeyFile()
    if case .key(let found) = file, try DeviceKey.id(of: found) == DeviceKey.id(of: key) {
      return false
    }
    guard try opens(key) else {
      // It was another's all along: the file says what it is now.
      forget(.device)
      return false
    }
    let path = devicePath
    switch file {
    case .missing:
      guard try KeyFile.createIfAbsent(path, of: key) else {
        throw KeychainError(
          .notAvailable, "\(path) has just been made: try again", isTemporary: true)
      }
      return true
    case .key:
      throw KeychainError(
        .notAvailable,
        "\(path) is another one than the device key that is in use: put the right one back, or move it away,"
          + " and the one in use is written there")
    case .unusable(let reason): throw reason
    }
  }
}
