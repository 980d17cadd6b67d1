import Glibc
import SQLiteDatabase
import SodiumCrypto

/// What is done with the device key: BLAKE2b under it, of the subkey of a root (32 bytes) to wrap class
/// keys of this device only, and of the words below (16 bytes) to name it.
enum DeviceKey {
  static let idLength = 16
  private static let name = Array("threadkeeper device key".utf8)

  /// Tells device keys apart, and nothing of what they are.
  static func id(of device: GuardedKey) throws -> [UInt8] {
    try device.withUnsafeBytes { try BLAKE2b.hash(name, key: $0, count: idLength) }
  }

  /// Lends the key that takes both, the root that `subkey` is of and the device key.
  static func withSubkey<R>(
    _ subkey: UnsafeRawBufferPointer, under device: GuardedKey, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try withScratchMemory(KeyArena.keyLength) { both in
      try device.withUnsafeBytes { try BLAKE2b.hash(subkey, key: $0, into: both) }
      return try body(UnsafeRawBufferPointer(both))
    }
  }

  static func isAnother() -> KeychainError {
    KeychainError(
      .notAvailable,
      "these items for this device only were added with another device.key than the one beside the"
        + " store: put the right one back, or they belong to another machine")
  }
}

/// What lies where the device key belongs.
enum DeviceKeyFile {
  case key(GuardedKey)
  /// Nothing has that name.
  case missing
  /// Something has it, or that cannot be seen. It may well be the right one: nothing is deleted for that.
  case unusable(KeychainError)
}

/// The device key: a file outside of the store, so that a copy of the store alone does not open
/// what is for this device only. It is made with the first such item.
extension KeyRing {
  /// The device key if what `id` names takes it to be opened, else nil.
  ///
  /// - Throws: `notAvailable` when the file is missing, or is no key file.
  func deviceKey(for id: KeyID) throws -> GuardedKey? {
    guard id.purpose.accessibility?.isThisDeviceOnly == true else { return nil }
    let keyID = KeyID(.device, epoch: 1)
    if let key = loaded.withLock({ $0.keys[keyID] }) { return key }
    switch try deviceKeyFile() {
    case .key(let key):
      add(key, as: keyID)
      return key
    case .missing:
      throw KeychainError(
        .notAvailable,
        "items for this device only need \(devicePath): it is missing, or they belong" + " to another machine")
    case .unusable(let reason): throw reason
    }
  }

  /// The same for a key that is being made: the first makes the file. Where there were others
  /// before, a new file would not open them; where there were none, the file says what the key is, and
  /// not what was read from an earlier one.
  func deviceKey(for id: KeyID, in tx: WriteTransaction) throws -> GuardedKey? {
    guard id.purpose.accessibility?.isThisDeviceOnly == true else { return nil }
    let classes = Accessibility.allCases.filter(\.isThisDeviceOnly).map(\.keyPurpose)
    let others = try classes.compactMap { try KeyTable.newest($0, in: tx) }
    if others.isEmpty {
      _ = try KeyFile.createIfAbsent(devicePath)
      forget(.device)
    }
    for other in others {
      // One device key for all of them: if the file has another, nothing more is wrapped with it.
      do { _ = try key(other, in: tx) } catch let error as KeychainError where error.status == .notAvailable {
        throw error
      } catch {
        // Locked or altered: that is nothing about the device key.
      }
    }
    return try deviceKey(for: id)
  }
}

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
    if case .key(let found) = file, try DeviceKey.id(of: found) == DeviceKey.id(of: key) { return false }
    guard try opens(key) else {
      // It was another's all along: the file says what it is now.
      forget(.device)
      return false
    }
    let path = devicePath
    switch file {
    case .missing:
      guard try KeyFile.createIfAbsent(path, of: key) else {
        throw KeychainError(.notAvailable, "\(path) has just been made: try again", isTemporary: true)
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
