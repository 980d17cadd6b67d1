import Bridge
import Broker
import FoundationEssentials
import Glibc
import Home
import HomeStore
import KeychainCore
import Settings
import ThreadkeeperSupport

/// Looks at everything that threadkeeper needs, and changes nothing. Root looks as the store's owner, who can open it.
struct Doctor {
  /// For what is asked of the broker: with the daemon's answer, the whole takes less than 30 seconds.
  private static let brokerLimit = Duration.seconds(12)

  let options: SettingsOptions
  let loaded: SettingsResult
  /// Another login of the broker, which shall not see what is not its own.
  let other: (name: String, password: String?)?
  /// Says what it is waiting for.
  let waits: @Sendable (String) -> Void

  /// The store as far as it can be seen here.
  private struct Opened {
    var keychain: Keychain?
    var failure: CommandFailure?
    /// See `StoreCheck.isDefect`.
    var isDefect = false
  }

  /// - Throws: `CancellationError`; `CommandFailure` with status 64 where the other login is the daemon's own.
  func findings() async throws -> [Finding] {
    var findings = SettingsCheck.findings(loaded)
    if let file = loaded.file { findings += settingsFile(file) }
    guard let settings = loaded.settings.map(options.ofStore) else { return findings }
    return try await findings + StoreOwner.run(settings) { try await self.findings(settings) }
  }

  private func findings(_ settings: Settings) async throws -> [Finding] {
    waits("Asking the daemon")
    let status = try await DaemonClient(settings: settings).statusIfThere()
    let location = OpenStore.location(settings)
    let holder = status == nil ? StoreLock.holder(of: location) : nil
    var findings = DaemonCheck.findings(
      status, holder: holder,
      access: Self.refusal(settings, OpenStore.checkAccess)
        ?? holder.flatMap { _ in Self.refusal(settings, OpenStore.checkOwner) })
    let opened = open(settings)
    defer { opened.keychain?.close() }
    waits("Asking the broker")
    findings += try await broker(settings, opened, status)
    try Task.checkCancellation()
    return findings + store(settings, opened, status) + system(settings, status)
      + SystemCheck.devices(settings, firstHome(settings, opened.keychain))
  }

  private func settingsFile(_ file: String) -> [Finding] {
    var status = stat()
    guard stat(file, &status) == 0 else { return [] }
    return SettingsCheck.findings(file: file, mode: status.st_mode & 0o777)
  }

  // MARK: The store

  /// Without a question: a check that waits for a passphrase is none for scripts.
  private func open(_ settings: Settings) -> Opened {
    if let failure = Self.refusal(settings, OpenStore.checkOwner) { return Opened(failure: failure) }
    guard OpenStore.exists(settings) else { return Opened() }
    do { return Opened(keychain: try OpenStore.forReading(settings) { _ in nil }) } catch {
      let failure = error as? CommandFailure ?? CommandFailure(.inputOutput, "the store cannot be read: \(error)")
      let slots = try? Keychain.slots(at: OpenStore.location(settings))
      return Opened(
        failure: failure,
        isDefect: StoreCheck.isDefect(
          failure, slots: slots?.map(\.kind), hasPassphrase: settings.store.passphrase != nil))
    }
  }

  static func refusal(_ settings: Settings, _ check: (Settings) throws(CommandFailure) -> Void) -> CommandFailure? {
    do { try check(settings) } catch { return error }
    return nil
  }

  private func store(_ settings: Settings, _ opened: Opened, _ status: DaemonStatus?) -> [Finding] {
    let location = OpenStore.location(settings)
    guard OpenStore.exists(settings) else {
      return [StoreCheck.absence(settings)] + StoreCheck.disk(settings.store.path)
    }
    let condition = status?.store.condition ?? opened.keychain?.condition.words
    return StoreCheck.findings(
      failure: opened.failure, isDefect: opened.isDefect, condition: condition, path: settings.store.path)
      + StoreCheck.permissions(settings) + StoreCheck.keySlots((try? Keychain.slots(at: location))?.map(\.kind))
      + StoreCheck.backup(last: BackupNote.read(settings), now: Int64(time(nil))) + StoreCheck.disk(settings.store.path)
  }

  private func system(_ settings: Settings, _ status: DaemonStatus?) -> [Finding] {
    let root = ProcessInfo.processInfo.environment[SystemPlaces.rootVariable] ?? ""
    return SystemCheck.clock(root: root)
      + (status == nil ? SystemCheck.avahi(isWanted: settings.discovery == .auto, root: root) : [])
  }

  // MARK: The broker

  private func broker(_ settings: Settings, _ opened: Opened, _ status: DaemonStatus?) async throws -> [Finding] {
    let check = Check(.broker, "broker")
    guard case .named(let host) = settings.mqtt.host else {
      return [
        check.note(
          "The daemon has a private broker, which programs of this machine alone reach. It makes logins and "
            + "access list itself", "Set `mqtt.host` to use the broker of the house")
      ]
    }
    var connection = MosquittoConfiguration(settings.mqtt, host: host)
    let loginRemedy = settings.mqtt.password.map { _ in
      "Correct `mqtt.username` and `mqtt.password` in the settings, or the login on the broker: "
        + "`sudo mosquitto_passwd FILE USER`"
    }
    if settings.mqtt.password == nil {
      if let keychain = opened.keychain {
        guard let login = try? LoginInUse.find(settings, keychain) else {
          return [
            check.problem("The broker's password in the store cannot be read", BrokerCheck.newLogin, .notPermitted)
          ]
        }
        (connection.username, connection.password) = (login.username, login.password?.revealed)
      } else if let failure = opened.failure {
        return [
          check.notChecked(
            "The broker's password may be in the store, which is not open here: \(failure.message)",
            failure.remedy.map(Check.sentence))
        ]
      }
    }
    if connection.password == nil, let source = status?.login.passwordFrom, [.settings, .keychain].contains(source) {
      return [
        check.notChecked(
          "The running daemon has a password of the broker, and this command does not find it: a credential "
            + "of systemd is in the service alone",
          "Name a file with it: `THREADKEEPER_MQTT_PASSWORD_FILE=FILE threadkeeper doctor`")
      ]
    }
    if let other, let own = connection.username { try Self.check(other.name, isNot: own) }
    var mqtt = settings.mqtt
    mqtt.username = connection.username
    let bases = settings.homes.map(\.base)
    let filters = ["\(settings.homeAssistant.prefix)/status"]
    let probe = BrokerProbe(connection, within: Self.brokerLimit)
    var list = AccessList(settings, daemon: mqtt.username)
    list.addHomeAssistant(settings)
    let house = HouseBroker(host: host, port: settings.mqtt.port, file: nil)
    var rights: [AccessGap] = []
    var promises: [Finding] = []
    do throws(AccessListError) {
      if let other { rights = try list.rights(of: other.name) }
      promises = AccessCheck.promises(
        list, house?.isAccessListKnown == true ? try house?.gaps(list) : nil, tried: other?.name)
    } catch { promises = [AccessCheck.impossible(error)] }
    let access = await probe.access(to: bases, filters: filters, other: other, rights: rights)
    // A client without a login keeps its id.
    if connection.username != nil, BrokerCheck.mayShareClientID(access), await probe.sharesClientID() {
      return BrokerCheck.sharedClientID
    }
    switch access {
    case .failure(let error): return BrokerCheck.findings(refused: error, loginRemedy: loginRemedy)
    case .success(let report):
      return BrokerCheck.findings(report.session, mqtt, values: report.values)
        + QueueCheck.findings(house?.hasOptions == true ? house?.options : nil) + QueueCheck.dropped(report.values)
        + QueueCheck.large(report.passesLarge)
        + RetainedCheck.findings(report, bases: bases, routers: routers(settings, opened.keychain))
        + AccessCheck.findings(report, login: mqtt.username, other: other?.name, prefix: settings.homeAssistant.prefix)
        + promises
    }
  }

  /// - Throws: `CommandFailure` with status 64.
  static func check(_ login: String, isNot own: String) throws(CommandFailure) {
    guard login == own else { return }
    throw CommandFailure(
      .usage, "`\(login)` is the daemon's own login, which may read and write everything",
      remedy: "name that of a border router")
  }

  /// The one that discovery belongs to.
  private func firstHome(_ settings: Settings, _ keychain: Keychain?) -> Home? {
    guard let keychain, let name = settings.homes.first?.name else { return nil }
    return try? HomeSnapshot.read(SealedRecords(keychain)).homes[name]
  }

  private func routers(_ settings: Settings, _ keychain: Keychain?) -> Set<String>? {
    guard let keychain, let stored = try? HomeSnapshot.read(SealedRecords(keychain)) else { return nil }
    return Set(
      settings.homes.flatMap { home in
        (stored.homes[home.name]?.routers.filter(\.isPresent) ?? []).map { "\(home.base)/router/\($0.agent)" }
      })
  }
}
