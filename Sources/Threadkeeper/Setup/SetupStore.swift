import Bridge
import FoundationEssentials
import Glibc
import KeychainCore
import SQLiteDatabase
import Settings
import ThreadkeeperSupport

/// The store of the settings that are being set up.
struct SetupStore {
  struct Result {
    var madeStore = false
    var storedPassword = false
    var isRunning = false
  }

  let settings: Settings
  /// How a daemon that runs is stopped.
  let isService: Bool

  /// - Throws: `CommandFailure` with status 75 where a daemon runs that has another broker or login: it keeps the password
  ///   of no other one.
  func checkDaemon() async throws { try await StoreOwner.run(settings) { try await checkOwnDaemon() } }

  private func checkOwnDaemon() async throws {
    guard let status = try await DaemonClient(settings: settings).statusIfThere() else { return }
    let broker = status.broker
    let isSame =
      BrokerAddress(settings.mqtt)?.host.lowercased() == broker.host.lowercased() && settings.mqtt.port == broker.port
    let other: String
    if broker.embedded {
      other = "broker (its private one)"
    } else if !isSame {
      other = "broker (\(HostAndPort(broker.host, broker.port)))"
    } else if let login = status.login.username, login != settings.mqtt.username {
      other = "login (\(login))"
    } else {
      return
    }
    throw stopping("threadkeeper runs with another \(other.printable)")
  }

  private func stopping(_ why: String) -> CommandFailure {
    let how = isService ? "stop it, `sudo systemctl stop threadkeeper`" : "stop it with Ctrl-C where it runs"
    return CommandFailure(.temporary, why, remedy: "nothing was written; \(how), and run this again")
  }

  /// The password that is known for a login: of the settings, or stored. Nobody is asked for what opens the store.
  static func password(for mqtt: Settings.MQTT, _ current: Settings) async -> SecretText? {
    if let password = current.mqtt.password, current.mqtt.username == mqtt.username,
      BrokerAddress(current.mqtt) == BrokerAddress(mqtt)
    {
      return password
    }
    var settings = current
    settings.mqtt = mqtt
    let named = settings
    return try? await StoreOwner.run(named) { stored(named)?.password }
  }

  /// The login that is stored now, as far as this user may look. Nobody is asked for what opens the store.
  private static func stored(_ settings: Settings) -> LoginInUse? {
    guard OpenStore.exists(settings) else { return nil }
    return try? OpenStore.reading(settings, ask: { _ in nil }) { try LoginInUse.find(settings, $0) }
  }

  /// By the daemon, where one runs.
  ///
  /// - Returns: whether it has made the store.
  private func store(_ login: BrokerLogin, at address: BrokerAddress) async throws -> Bool {
    return try await DaemonClient.orStore(isRepeatable: true) {
      try await DaemonClient(settings: settings).performIfThere(
        StoreLogin(broker: address.url, username: login.username, password: login.text)
      ).map { _ in false }
    } store: {
      let makesStore = !OpenStore.exists(settings)
      let keychain =
        try makesStore
        ? OpenStore.create(settings)
        : await InterruptibleWork.result { stop in
          try OpenStore.forWriting(settings) { try StoreSecret.ask($0, until: stop) }
        }
      defer { keychain.close() }
      // From here on it is no longer "nothing was stored".
      try Task.checkCancellation()
      _ = try keychain.database.write { try BrokerLoginStore(keychain, address).save(login, $0) }
      return makesStore
    }
  }

  /// A short code for the page of the daemon that runs, or is starting; nil where none does.
  func pageCode() async -> String? {
    try? await StoreOwner.run(settings) {
      try await DaemonClient(settings: settings).perform(MakePageCode(), within: .seconds(10)).shownCode
    }
  }

  /// Stores the password, and makes the store if there is none. One that is there is not changed otherwise.
  ///
  /// - Throws: `CommandFailure` with status 75 where a daemon has the store that has another broker or login.
  func fill(username: String?, password: SecretText?) async throws -> Result {
    try StoreOwner.prepareDirectory(settings)
    return try await StoreOwner.run(settings) {
      var result = Result()
      result.isRunning = StoreLock.holder(of: OpenStore.location(settings)) != nil
      if let username, let password {
        let address = try BrokerAddress(ofOwnBroker: settings.mqtt)
        let known = Self.stored(settings)
        let login = BrokerLogin(username: username, password: try Password.checked(Array(password.revealed.utf8)[...]))
        if known?.username != username || known?.password != password {
          if result.isRunning { try await checkOwnDaemon() }
          do { result.madeStore = try await store(login, at: address) } catch let failure as CommandFailure
            where result.isRunning && failure.status == .configuration
          { throw stopping(failure.message) }
          result.storedPassword = true
        }
      } else if !OpenStore.exists(settings) {
        try OpenStore.create(settings).close()
        result.madeStore = true
      }
      return result
    }
  }
}

/// The user whose store it is: root works as that user, who could not open what root makes.
enum StoreOwner {
  /// The package's user and group.
  static let service = "threadkeeper"
  static let agents = "threadkeeper-agent"

  static var isRoot: Bool { getuid() == 0 }

  /// Runs `body` as the owner of the directory that the store lies in, if this is root, and else as it is.
  ///
  /// All threads of the process change: nothing else may go on meanwhile.
  static func run<R: Sendable>(_ settings: Settings, _ body: @Sendable () async throws -> R) async throws -> R {
    let former = try become(settings)
    defer { former?.assume() }
    return try await body()
  }

  /// The same without waiting for anything.
  static func runNow<R>(_ settings: Settings, _ body: () throws -> R) throws -> R {
    let former = try become(settings)
    defer { former?.assume() }
    return try body()
  }

  private struct Former {
    let user = geteuid()
    let group = getegid()

    func assume() {
      seteuid(user)
      setegid(group)
    }
  }

  /// - Returns: who this was; nil where nothing has changed.
  private static func become(_ settings: Settings) throws(CommandFailure) -> Former? {
    guard let owner = owner(of: settings) else { return nil }
    let former = Former()
    guard setegid(owner.group) == 0, seteuid(owner.user) == 0 else {
      let code = errno
      setegid(former.group)
      throw CommandFailure(.system, "cannot work as user \(owner.user): \(String(cString: strerror(code)))")
    }
    return former
  }

  /// Makes the service's directory, where the service's user is there and it is not. No other one is made as root: who
  /// may write beside it could put something else in its place.
  static func prepareDirectory(_ settings: Settings) throws(CommandFailure) {
    let directory = FilePath.directory(of: settings.store.path)
    let places = SystemPlaces(environment: ProcessInfo.processInfo.environment)
    var status = stat()
    guard geteuid() == 0, directory == places.stateDirectory, lstat(directory, &status) != 0,
      let user = SystemAccount.user(service), let group = SystemAccount.group(service)
    else { return }
    let made = mkdir(directory, 0o700)
    let descriptor = made == 0 ? open(directory, O_RDONLY | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC) : -1
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, fchown(descriptor, user, group) == 0 else {
      throw CommandFailure(.cannotCreate, "\(directory) cannot be made: \(String(cString: strerror(errno)))")
    }
  }

  /// Of the nearest directory that is there; nil when it is this user, or this is not root.
  private static func owner(of settings: Settings) -> (user: uid_t, group: gid_t)? {
    guard geteuid() == 0 else { return nil }
    var status = stat()
    var path = settings.store.path
    while lstat(path, &status) != 0, path != "/" { path = FilePath.directory(of: path) }
    // Root's own link goes where root wants; another's is that user's, wherever it goes.
    if status.st_uid == 0, status.st_mode & S_IFMT == S_IFLNK, stat(path, &status) != 0 { return nil }
    return status.st_uid == 0 ? nil : (status.st_uid, status.st_gid)
  }
}

/// What the service's unit has besides for a store that is not in its state directory: it waits for the disk, and may
/// write there.
struct StoreDropIn {
  private static let heading =
    "# Of `threadkeeper setup`: where the settings have the store. It is written again by the next one.\n"

  let path: String
  /// Nil where the unit is enough.
  let text: String?

  /// - Parameter places: of the system with the service.
  init(_ settings: Settings, _ places: SystemPlaces) {
    path = places.storeDropIn
    let elsewhere = [settings.store.path, settings.store.keyFile].filter {
      !FilePath.isInside($0, places.stateDirectory)
    }
    guard !elsewhere.isEmpty else {
      text = nil
      return
    }
    // Store and anchor, and what is made beside them. The key is there already.
    let directory = FilePath.directory(of: settings.store.path)
    let writable = directory == "/" ? [settings.store.path, settings.store.anchorPath] : [directory]
    text =
      Self.heading + """
        [Unit]
        RequiresMountsFor=\(elsewhere.map(Self.quoted).joined(separator: " "))

        [Service]
        \(writable.map { "ReadWritePaths=\(Self.quoted("-" + $0))\n" }.joined())
        """
  }

  /// In the form of systemd.syntax(7), where `%` begins a specifier.
  private static func quoted(_ path: String) -> String {
    let escaped = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
    return "\"\(escaped)\""
  }

  /// Writes the file, or removes one that is not needed any more. One that somebody else has written stays.
  ///
  /// - Returns: whether it was changed, so that systemd has to read it.
  /// - Throws: `CommandFailure` with status 73.
  func write() throws(CommandFailure) -> Bool {
    let found = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    guard found != text, found?.hasPrefix(Self.heading) != false else { return false }
    do {
      guard let text else {
        try FileManager.default.removeItem(atPath: path)
        return true
      }
      try FileManager.default.createDirectory(
        atPath: FilePath.directory(of: path), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
      try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
      chmod(path, 0o644)
      return true
    } catch {
      let cause = (error as? CocoaError)?.underlying as? POSIXError
      let reason = cause.map { ": \(String(cString: strerror($0.code.rawValue)))" } ?? ""
      throw CommandFailure(
        .cannotCreate, "\(path) cannot be written\(reason)", remedy: "the settings are written; run it again with sudo")
    }
  }
}
