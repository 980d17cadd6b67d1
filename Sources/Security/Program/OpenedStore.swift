import Dispatch
import Glibc

/// A store that is open, and the file that it is.
struct OpenedStore {
  let keychain: Keychain
  let upkeep: StoreUpkeep
  private let file: FileIdentity?

  /// Whether the open file still has its name.
  var isInPlace: Bool { file != nil && file == FileIdentity(keychain.location.databasePath) }

  /// Opens the store that the settings name; nil when there is none and none is to be made.
  init?(_ settings: LinuxKeychain.Settings, makingStore: Bool) throws(KeychainError) {
    guard let directory = settings.directory else {
      throw KeychainError(
        .noDefaultKeychain,
        "nothing says where the keychain lies: set HOME, XDG_DATA_HOME (absolute paths) or"
          + " THREADKEEPER_KEYCHAIN_DIRECTORY")
    }
    let location = StoreLocation(directory: directory + "/store")
    var ways: [KeySlotSecret] = []
    let ownKey = directory + "/store.key"
    if let path = settings.passphraseFile {
      ways.append(try .passphrase(inFile: path))
      // A key file that nobody asked for would lie beside what the passphrase is to protect.
      if let keyFile = settings.keyFile { ways.append(.keyFile(path: keyFile)) }
    } else {
      ways.append(.keyFile(path: settings.keyFile ?? ownKey))
    }
    // A key file that is named may be that of several stores.
    if try location.holdsStore(keys: [ownKey]) {
      // Whoever can change what lies in it can change the keys and the anchor.
      try StoreLocation.checkDirectory(directory)
    } else {
      guard makingStore else { return nil }
      try Self.makeStore(at: location, ways)
      try StoreLocation.checkDirectory(directory)
    }
    var options = KeychainOptions()
    options.defersUpkeep = true
    keychain = try Keychain.open(at: location, with: ways[0], access: .shared, options: options)
    upkeep = StoreUpkeep(keychain)
    file = FileIdentity(location.databasePath)
  }

  /// Another process may do the same at the same moment: one of both makes it.
  private static func makeStore(at location: StoreLocation, _ ways: [KeySlotSecret]) throws(KeychainError) {
    for _ in 0..<500 {
      do {
        try Keychain.create(at: location, slots: ways).close()
        return
      } catch {
        if Keychain.exists(at: location) { return }
        guard error.lockHolder != nil else { throw error }
        usleep(20_000)
      }
    }
    throw KeychainError(.notAvailable, "another process takes too long to make the keychain")
  }
}

/// Tells a file from another that has its name later.
private struct FileIdentity: Equatable {
  private let device: dev_t
  private let number: ino_t

  /// Nil when there is no such file.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = status.st_dev
    number = status.st_ino
  }
}

/// Does what calls leave undone, so that a program that calls nothing any more owes nothing: the last
/// generation is in the anchor, and what was deleted is out of the log.
final class StoreUpkeep: Sendable {
  private static let longestPause = 60

  private let keychain: Keychain
  /// When it is done next; nil: nothing is planned.
  private let next = Locked<ContinuousClock.Instant?>(nil)
  private let process = getpid()

  init(_ keychain: Keychain) { self.keychain = keychain }

  /// Called after each call: something is done in a second, if it has to be. What cannot be done then
  /// is tried again after longer and longer pauses, and a second after the next call.
  func plan(after seconds: Int = 1) {
    guard keychain.owesUpkeep else { return }
    let moment = ContinuousClock.now + .seconds(seconds)
    let isSooner = next.withLock { next in
      if let next, next <= moment { return false }
      next = moment
      return true
    }
    guard isSooner else { return }
    // Weakly: a keychain that is closed does it then, and its keys do not stay for this.
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in
      // A later call did not want to wait so long.
      guard let self, takePlan(for: moment) else { return }
      try? keychain.tick()
      plan(after: min(seconds * 2, Self.longestPause))
    }
  }

  /// Takes what is planned for a moment off the plan: a call meanwhile plans again.
  private func takePlan(for moment: ContinuousClock.Instant) -> Bool {
    next.withLock { next in
      guard next == moment else { return false }
      next = nil
      return true
    }
  }

  /// Does it now, because the program ends. A child of the program that is no program of its own leaves
  /// the parent's store alone.
  func finish() {
    guard process == getpid(), keychain.owesUpkeep else { return }
    try? keychain.lastTick()
  }
}
