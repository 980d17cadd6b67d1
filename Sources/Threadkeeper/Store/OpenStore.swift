import Glibc
import KeychainCore
import Settings
import ThreadkeeperSupport

/// Opens the store that the settings name, with words for all that can go wrong.
package enum OpenStore {
  static func location(_ settings: Settings) -> StoreLocation {
    StoreLocation(directory: settings.store.path, anchorDirectory: settings.store.anchorPath)
  }

  /// Beside a running daemon too; changes nothing.
  ///
  /// - Parameter ask: for what opens it, where nothing at hand does.
  static func forReading(_ settings: Settings, ask: @escaping StoreWays.Ask) throws -> Keychain {
    try open(settings, access: .readOnly, options: KeychainOptions(), ask)
  }

  /// Holds the store's lock until it is closed.
  static func forWriting(
    _ settings: Settings, options: KeychainOptions = KeychainOptions(), ask: @escaping StoreWays.Ask
  ) throws -> Keychain { try open(settings, access: .readWrite, options: options, ask) }

  static func exists(_ settings: Settings) -> Bool { Keychain.exists(at: location(settings)) }

  /// A key that systemd hands over in the place of the key file, as docs/guides/install.md names it.
  private static let credential = "threadkeeper.store_key"

  /// - Throws: `CommandFailure` with status 66 when there is none, though something is left of one: whoever makes a new
  ///   one loses the preferred network, owners and enrolments.
  static func checkNotLost(_ settings: Settings) throws(CommandFailure) {
    var keys = [settings.store.keyFile, BackupNote.path(settings)]
    if let path = SystemdCredential.path(credential) { keys.append(path) }
    do throws(KeychainError) { _ = try location(settings).holdsStore(keys: keys) } catch {
      guard error.status == .noSuchKeychain else { throw CommandFailure(error) }
      throw CommandFailure(
        .noInput, error.message, remedy: "is its disk mounted? `threadkeeper store restore FILE` puts a backup back")
    }
  }

  /// Makes a store with a new key file.
  ///
  /// - Throws: `CommandFailure`: 66 where there was a store, 73, 77.
  static func create(_ settings: Settings, options: KeychainOptions = KeychainOptions()) throws -> Keychain {
    try checkMaking(settings)
    try checkNotLost(settings)
    guard settings.store.passphrase == nil else {
      throw CommandFailure(
        .noInput, "there is no store at \(location(settings).databasePath), and `store.passphrase` opens no new one",
        remedy: "is its disk mounted? For a new store leave `store.passphrase` out, and give it one with"
          + " `threadkeeper keys add`")
    }
    do {
      return try Keychain.create(
        at: location(settings), slots: [.keyFile(path: settings.store.keyFile)], options: audited(options))
    } catch {
      switch error.status {
      // Of the directories that it lies in.
      case .noSuchKeychain, .writePermission: throw CommandFailure(.cannotCreate, error.message)
      default: throw CommandFailure(error)
      }
    }
  }

  /// What nobody else is named for, the audit says of the user of this process.
  static func audited(_ options: KeychainOptions) -> KeychainOptions {
    var options = options
    options.auditor = options.auditor ?? actor(user: geteuid())
    return options
  }

  /// How the audit names who gave a command, whether the daemon did the work or the command itself.
  package static func actor(user: UInt32) -> String { "command of user \(user)" }

  private static func open(
    _ settings: Settings, access: Keychain.Access, options: KeychainOptions, _ ask: @escaping StoreWays.Ask
  ) throws -> Keychain {
    try checkOwner(settings)
    try checkNotLost(settings)
    var lacksAnswer = false
    let ask: StoreWays.Ask = { words in
      let answer = try ask(words)
      lacksAnswer = answer == nil
      return answer
    }
    do {
      var refusal = KeychainError(.authFailed, "there is nothing to open the store with")
      let first: StoreWays.Further = { _, _ in try StoreWays.first(settings) }
      for (position, group) in ([first] + StoreWays.further(settings, ask: ask)).enumerated() {
        var ways: [KeySlotSecret] = []
        if position == 0 {
          ways = try group(refusal, [])
        } else if let slots = try? Keychain.slots(at: location(settings)) {
          ways = try group(refusal, slots)
        }
        for (number, way) in ways.enumerated() {
          do {
            return try Keychain.open(at: location(settings), with: way, access: access, options: audited(options))
          } catch {
            guard error.status == .authFailed else { throw error }
            if number == 0 { refusal = error }
          }
        }
      }
      throw refusal
    } catch let error as KeychainError { throw StoreWays.failure(error, lacksAnswer: lacksAnswer) }
  }
}

/// What lies beside a store, and what needs none.
package enum PrivateDirectory {
  /// Makes it, and those above it, for this user alone; not below a home directory that is missing.
  ///
  /// - Throws: `CommandFailure` with status 73.
  package static func make(_ path: String) throws(CommandFailure) {
    do throws(KeychainError) { try StoreLocation.makeDirectory(path) } catch {
      throw CommandFailure(.cannotCreate, error.message)
    }
  }
}

extension StoreCondition {
  /// For a person.
  var words: String {
    switch self {
    case .healthy: "healthy"
    case .readOnly(let reason): "read-only: \(reason)"
    }
  }
}

extension CommandFailure {
  package init(_ error: KeychainError) {
    let (status, remedy): (ExitStatus, String?) =
      switch error.status {
      case .noSuchKeychain:
        (.noInput, "`threadkeeper setup` makes one; `--state-directory` or `store.path` names another")
      case .notAvailable where error.lockHolder != nil:
        (.temporary, "stop it and try again; reading commands work beside it")
      case _ where error.isTemporary: (.temporary, nil)
      case .authFailed, .notAvailable: (.notPermitted, nil)
      case .interactionNotAllowed:
        (.notPermitted, "`store.passphrase` names it; a command asks for it where no daemon runs")
      case .itemNotFound: (.noInput, nil)
      case .param: (.usage, nil)
      case .decode: (.badInput, nil)
      default: (.inputOutput, nil)
      }
    self.init(status, error.message, remedy: remedy)
  }
}

/// Whose the store is. One of another user is left to that user: files that somebody else makes or
/// takes over are files that the service cannot open.
extension OpenStore {
  /// - Throws: `CommandFailure` with status 77 when this user may not even see whether there is one.
  static func checkAccess(_ settings: Settings) throws(CommandFailure) {
    let path = location(settings).databasePath
    guard access(path, F_OK) != 0, errno != ENOENT, errno != ENOTDIR else { return }
    guard errno == EACCES else {
      throw forbidden("can't look at \(path): \(String(cString: strerror(errno)))", settings)
    }
    throw forbidden("this user has no access to \(path)", settings)
  }

  /// - Throws: `CommandFailure` with status 77 when the store is another user's, or out of reach.
  static func checkOwner(_ settings: Settings) throws(CommandFailure) {
    var status = stat()
    if stat(settings.store.path, &status) == 0, status.st_uid != geteuid() {
      throw anothers(settings.store.path, status.st_uid, settings)
    }
    try checkAccess(settings)
  }

  /// The same for whoever makes one: root could do it in the state directory of a service. One that is not
  /// there yet is nobody's, wherever it is to be.
  static func checkMaking(_ settings: Settings) throws(CommandFailure) {
    try checkOwner(settings)
    let place = settings.store.path.lastIndex(of: "/").map { String(settings.store.path[..<$0]) }
    var status = stat()
    guard geteuid() == 0, let place, !place.isEmpty, stat(place, &status) == 0, status.st_uid != 0 else { return }
    throw anothers(place, status.st_uid, settings)
  }

  private static func anothers(_ what: String, _ owner: UInt32, _ settings: Settings) -> CommandFailure {
    CommandFailure(
      .notPermitted, "\(what) belongs to user \(name(owner)), and this is user \(name(geteuid()))",
      remedy: asUser(owner, settings))
  }

  /// What this user may not look at. A daemon that runs answers root; without one only the owner can open the store.
  static func forbidden(_ message: String, _ settings: Settings) -> CommandFailure {
    let owner = owner(ofNearest: settings.store.path) ?? 0
    return CommandFailure(.notPermitted, message, remedy: asUser(isDaemonListening(settings) ? 0 : owner, settings))
  }

  private static func asUser(_ user: UInt32, _ settings: Settings) -> String {
    let isBelow = settings.store.path.hasPrefix(settings.stateDirectory + "/")
    let command = SameCommand.by(user, stateDirectory: isBelow ? settings.stateDirectory : nil)
    return "run it as \(user == 0 ? "root" : "that user"): `\(command)`"
  }

  /// As everybody can see (proc_pid_net(5)).
  private static func isDaemonListening(_ settings: Settings) -> Bool {
    let sockets = KernelFile.text("/proc/net/unix") ?? ""
    return sockets.contains(" \(LocalAPISocket.path(settings))\n")
  }

  private static func name(_ user: UInt32) -> String { SystemAccount.name(ofUser: user) ?? "\(user)" }

  /// Of the path, or the first directory above it that is there and can be seen.
  private static func owner(ofNearest path: String) -> UInt32? {
    var path = path[...]
    var status = stat()
    while stat(path.isEmpty ? "/" : String(path), &status) != 0 {
      guard let slash = path.lastIndex(of: "/") else { return nil }
      path = path[..<slash]
    }
    return status.st_uid
  }
}

extension DaemonStore {
  /// The keychain of a store at home.
  ///
  /// - Parameter remedy: what to do in a fleet.
  /// - Throws: `CommandFailure` with status 69 for a shard, whose store is a database.
  func keychain(instead remedy: String) throws(CommandFailure) -> Keychain {
    guard let records = self as? SealedRecords else {
      throw CommandFailure(
        .unavailable, "\(place) keeps its data in the database of a fleet, so this command does not apply",
        remedy: remedy)
    }
    return records.keychain
  }
}
