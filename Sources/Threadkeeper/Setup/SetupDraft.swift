import Broker
import FoundationEssentials
import Glibc
import Settings
import ThreadkeeperSupport

/// The configuration file with the answers in it, and the settings that it then means.
struct SetupDraft {
  /// A key of the settings that gets another value.
  struct Change: Equatable, Encodable {
    let key: String
    /// Never a secret.
    let from: String
    let to: String
    let value: SettingsText.Value

    enum CodingKeys: String, CodingKey { case key, from, to }

    /// For a person.
    var line: String { "\(key): \(to.printable)" + (from == to ? "" : " (was: \(from.printable))") }
  }

  let text: String
  let settings: Settings
  let changes: [Change]

  /// Of a file that is not there yet.
  static let heading = """
    # threadkeeper: every key is described in threadkeeper.yaml(5), and in config/threadkeeper.yaml of the sources.

    """

  /// - Parameters:
  ///   - wanted: `current` with the answers.
  ///   - stateDirectory: `--state-directory`: a new file says that the store is there.
  /// - Throws: `CommandFailure` with status 78 when the file would mean anything else than was answered.
  init(_ wanted: Settings, for place: SetupPlace, _ current: Settings, stateDirectory: String?) throws {
    changes = Self.changes(current, to: wanted, isNew: place.text == nil)
    var draft = SettingsText(place.text ?? Self.heading)
    do {
      var values = changes.map { ($0.key, $0.value) }
      if place.text == nil, stateDirectory != nil {
        values += [("store.path", .text(current.store.path)), ("store.key_file", .text(current.store.keyFile))]
      }
      try draft.set(values)
    } catch let form as SettingsText.UnknownForm {
      throw Self.byHand(
        changes, "line \(form.line) of \(place.path) has `\(form.key)` in a form that is not changed here")
    }
    text = changes.isEmpty ? place.text ?? draft.text : draft.text
    // A page for the network gets its token before the file is written.
    let lacksToken = !HostName.isLoopback(wanted.http.address) && wanted.http.token == nil
    let token = lacksToken ? ["THREADKEEPER_HTTP_TOKEN": "made-when-it-is-written"] : [:]
    let result = Self.load(text, place, stateDirectory: stateDirectory, assuming: token)
    guard var settings = result.settings else {
      let problems = result.problems.filter { $0.severity == .error }.map { "\($0)" }
      throw CommandFailure(
        .configuration, "these settings cannot be used: \(problems.joined(separator: "; "))",
        remedy: "nothing was written; answer otherwise")
    }
    guard Self.changes(settings, to: wanted).isEmpty else {
      throw Self.byHand(
        changes, "\(place.path) would not say what was answered: perhaps a variable THREADKEEPER_… wins over it")
    }
    if lacksToken { settings.http.token = nil }
    self.settings = settings
  }

  /// The settings that a text means as the configuration file.
  ///
  /// - Parameter variables: set beside those that are.
  static func load(
    _ text: String, _ place: SetupPlace, stateDirectory: String?, assuming variables: [String: String] = [:]
  ) -> SettingsResult {
    SettingsLoader.load(
      text: text, as: place.path, environment: ProcessInfo.processInfo.environment.merging(variables) { $1 },
      stateDirectory: stateDirectory)
  }

  /// The keys that setup asks about and that differ, in the order of the file.
  ///
  /// - Parameter isNew: there is no file yet: then it names its broker, even if that is the default.
  static func changes(_ current: Settings, to wanted: Settings, isNew: Bool = false) -> [Change] {
    func values(_ settings: Settings) -> [(key: String, text: String?, isWord: Bool)] {
      let mqtt = settings.mqtt
      let host = if case .named(let name) = mqtt.host { name } else { "embedded" }
      return [
        ("mqtt.host", host, false), ("mqtt.port", "\(mqtt.port)", true), ("mqtt.username", mqtt.username, false),
        ("mqtt.password", mqtt.password.map { _ in "in the settings" }, false),
        ("mqtt.tls.ca_file", mqtt.tls?.caFile, false), ("mqtt.base_topic", mqtt.baseTopic, false),
        ("home_assistant.discovery", settings.homeAssistant.discovery.rawValue, true),
        ("http.enabled", "\(settings.http.isEnabled)", true), ("http.address", settings.http.address, false),
        ("http.names", settings.http.names.isEmpty ? nil : settings.http.names.listed, false),
      ]
    }
    return zip(values(current), values(wanted)).filter { old, new in
      old.text != new.text || isNew && new.key == "mqtt.host"
    }.map { old, new in
      Change(
        key: new.key, from: old.text ?? "none", to: new.text ?? "none",
        value: new.key == "http.names"
          ? .list(wanted.http.names) : new.text.map { new.isWord ? .word($0) : .text($0) } ?? .word("null"))
    }
  }

  private static func byHand(_ changes: [Change], _ why: String) -> CommandFailure {
    let lines = changes.map { "`\($0.key)`: \($0.to)" }.listed
    return CommandFailure(.configuration, why, remedy: "nothing was written; change these keys yourself: \(lines)")
  }
}

/// The configuration file that a command writes: a new one, or one whose owner and mode stay.
struct SetupPlace {
  private static let limit = 1 << 20

  let path: String
  /// Nil where there is no file yet.
  let text: String?

  /// - Throws: `CommandFailure` with status 77 or 66 for a file that this user cannot read.
  init(_ path: String) throws(CommandFailure) {
    self.path = path
    guard access(path, F_OK) == 0 || errno == EACCES else {
      text = nil
      return
    }
    guard access(path, R_OK) == 0 || errno != EACCES else {
      throw CommandFailure(.notPermitted, "this user cannot read \(path)", remedy: "run it with sudo")
    }
    guard let bytes = try InputFile.read(path, limit: Self.limit), let text = String(validating: bytes, as: UTF8.self)
    else { throw CommandFailure(.badInput, "\(path) is no configuration") }
    self.text = text
  }

  /// The file that `threadkeeper run` would read; where there is none, root's for the whole machine, or this user's.
  static func find(_ options: SettingsOptions) throws(CommandFailure) -> SetupPlace {
    let environment = ProcessInfo.processInfo.environment
    if let found = SettingsLoader.file(named: options.config, environment: environment) { return try SetupPlace(found) }
    guard geteuid() != 0 else { return try SetupPlace(SystemPlaces(environment: environment).configuration) }
    let configured = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let own = FilePath.absolute(
      (configured ?? "~/.config") + "/threadkeeper/threadkeeper.yaml", in: "/", home: environment["HOME"])
    guard let own else {
      throw CommandFailure(.usage, "no place for the settings: $HOME is not set", remedy: "name it with --config")
    }
    return try SetupPlace(own)
  }

  /// Replaces the file, or makes it, with its directory. It is there whole, or as it was.
  ///
  /// Owner and mode of a file stay. A new one is for its user alone; that of the whole machine is also for the group of the
  /// service, where there is one.
  ///
  /// - Throws: `CommandFailure` with status 73; 75 when it is not any more what was read.
  func write(_ text: String) throws(CommandFailure) {
    let group = serviceGroup
    if access(path, F_OK) != 0 { try makeDirectory(FilePath.directory(of: path), group) }
    let new = WholeFile.Access(group: group ?? getegid(), mode: group == nil ? 0o600 : 0o640)
    try WholeFile.write(text, to: path, new: new) { () throws(CommandFailure) in
      guard try SetupPlace(path).text == self.text else {
        throw CommandFailure(
          .temporary, "\(path) was changed meanwhile", remedy: "the settings were not written; run it again")
      }
    }
  }

  /// Whether these are the settings of the package's service, which reads them as a user of its own.
  var isService: Bool {
    StoreOwner.isRoot && path == SystemPlaces(environment: ProcessInfo.processInfo.environment).configuration
  }

  /// Whether nobody has set anything up here: the package's daemon makes its store by itself.
  func isAsPackaged(_ system: SystemPlaces) -> Bool {
    text != nil && path == system.configuration && text == WholeFile.read(system.packagedConfiguration)
  }

  private var serviceGroup: gid_t? { isService ? SystemAccount.group(StoreOwner.service) : nil }

  private func makeDirectory(_ directory: String, _ group: gid_t?) throws(CommandFailure) {
    guard access(directory, F_OK) != 0 else { return }
    try PrivateDirectory.make(directory)
    if let group, chown(directory, 0, group) != 0 || chmod(directory, 0o750) != 0 { throw WholeFile.failure(directory) }
  }
}
