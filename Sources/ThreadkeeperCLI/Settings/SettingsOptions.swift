// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import ThreadkeeperDaemon
import ThreadkeeperSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Which settings a command works with; the same for every command that needs some.
package struct SettingsOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The configuration file.",
      discussion: "Without it: $THREADKEEPER_CONFIG, ~/.config/threadkeeper/threadkeeper.yaml, "
        + "/etc/threadkeeper/threadkeeper.yaml; without any of them, defaults.",
      valueName: "file"))
  package var config: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Where the store and its key lie unless the configuration says otherwise.",
      valueName: "directory"))
  package var stateDirectory: String?

  package init() {}

  /// Reads the settings, with everything that is wrong with them.
  func read() -> SettingsResult {
    SettingsLoader.load(
      file: config, environment: ProcessInfo.processInfo.environment,
      stateDirectory: stateDirectory)
  }

  /// Loads the settings as if some variables were set, and prints nothing of what would be wrong without them.
  ///
  /// - Throws: as `load`.
  func load(assuming variables: [String: String]) throws -> Settings {
    let result = SettingsLoader.load(
      file: config, environment: ProcessInfo.processInfo.environment.merging(variables) { $1 },
      stateDirectory: stateDirectory)
    return try result.settings ?? load()
  }

  /// Loads the settings, and prints what is wrong with them.
  ///
  /// - Throws: `CommandFailure` with status 78 when they cannot be used.
  package func load() throws -> Settings {
    let result = read()
    for problem in result.problems {
      try StandardStream.error.write("\(problem)\n")
    }
    guard let settings = result.settings else {
      throw CommandFailure(
        .configuration, "the configuration cannot be used",
        remedy: "fix what is listed above; `threadkeeper check-config` checks it again")
    }
    return settings
  }
}

extension SettingsOptions {
  /// The settings for a command that needs a store that is there. Where nothing names a place and
  /// there is no store in the default one, it is that of the daemon that this user runs elsewhere, as
  /// after `make run`.
  ///
  /// - Throws: `CommandFailure`: 78 as `load` does; 77 when this user may not read them; 66 when there is no store, with what was found.
  func loadOfStore() throws -> Settings {
    let result = read()
    // They are those of somebody else's daemon.
    if result.settings == nil, result.isRefused, let file = result.file {
      if let settings = settingsOfMember(file) { return settings }
      throw CommandFailure(
        .notPermitted, "this user may not read all of the settings in \(file.printable)",
        remedy: "run it as root: `\(SameCommand.by())`")
    }
    return try ofStore(load())
  }

  /// The same for settings that are loaded already.
  ///
  /// - Throws: `CommandFailure` with status 66.
  func ofStore(_ settings: Settings) throws -> Settings {
    guard usesDefaultStore(settings), !OpenStore.exists(settings) else { return settings }
    let daemons = RunningDaemon.all()
    let own = daemons.filter { $0.user == geteuid() }
    if own.count == 1, let found = own.first?.settings(settings) {
      try StandardStream.error.write(
        "note: \(absence(settings)). This is the threadkeeper that runs as process"
          + " \(found.process), with its store in \(found.settings.store.path.printable).\n")
      return found.settings
    }
    if own.isEmpty, let service = serviceStore(settings) { return service }
    throw noStore(settings, own: own, others: daemons.filter { $0.user != geteuid() })
  }

  /// Whether neither the command line, a variable nor a file says where the store is.
  private func usesDefaultStore(_ settings: Settings) -> Bool {
    guard config == nil, stateDirectory == nil else { return false }
    let environment = ProcessInfo.processInfo.environment
    let names = ["THREADKEEPER_CONFIG", "THREADKEEPER_STATE_DIRECTORY", "THREADKEEPER_STORE_PATH"]
    guard names.allSatisfy({ environment[$0, default: ""].isEmpty }) else { return false }
    let directory = StateDirectory.path(
      given: nil, environment: environment, workingDirectory: "/", isRoot: geteuid() == 0)
    return directory.map { settings.store.path == $0 + "/store" } ?? false
  }

  /// For a member of the group of the machine's daemon, who may not read a secret of its settings: asking it takes none.
  private func settingsOfMember(_ file: String) -> Settings? {
    let environment = ProcessInfo.processInfo.environment
    let places = SystemPlaces(environment: environment)
    guard file == places.configuration, access(places.readersSocket, W_OK) == 0 else { return nil }
    let result = SettingsLoader.load(
      file: file, environment: environment, skipsRefusedSecrets: true)
    let settings =
      result.settings
      ?? SettingsLoader.load(text: "", as: file, environment: environment).settings
    return settings.flatMap(serviceStore)
  }

  /// The store of the machine's daemon, for who has none: members of its group may look.
  private func serviceStore(_ settings: Settings) -> Settings? {
    let directory = SystemPlaces(environment: ProcessInfo.processInfo.environment).stateDirectory
    guard geteuid() != 0, access(directory, F_OK) == 0 else { return nil }
    var settings = settings
    settings.stateDirectory = directory
    settings.store.path = directory + "/store"
    return settings
  }

  private func absence(_ settings: Settings) -> String {
    "there is no store in \(settings.store.path.printable)"
  }

  private func noStore(
    _ settings: Settings, own: [RunningDaemon], others: [RunningDaemon]
  ) -> CommandFailure {
    func list(_ daemons: [RunningDaemon]) -> String {
      daemons.map { $0.storePath.printable }.joined(separator: ", ")
    }
    if !own.isEmpty {
      return CommandFailure(
        .noInput, "\(absence(settings)); threadkeeper runs with its store in \(list(own))",
        remedy: "Name the directory above it: `--state-directory DIRECTORY`.")
    }
    if let place = RunningDaemon.unsafePlaces().first {
      return CommandFailure(
        .noInput,
        "\(absence(settings)); the threadkeeper with its store in \(place.storePath.printable) is not asked,"
          + " because other users can change \(place.directory.printable), or it is theirs",
        remedy:
          "Name the directory above the store: `--state-directory DIRECTORY`. Or let nobody else write"
          + " there (`chmod go-w`).")
    }
    if let other = others.first {
      return CommandFailure(
        .noInput,
        "\(absence(settings)); another user's threadkeeper runs with its store in \(list(others))",
        remedy:
          "Run this as that user: `\(SameCommand.by(other.user, stateDirectory: FilePath.directory(of: other.storePath)))`."
      )
    }
    return CommandFailure(
      .noInput, "\(absence(settings)), and no threadkeeper was found running",
      remedy: "Start one with `threadkeeper run`, or name its place with `--state-directory`"
        + " or `--config`.")
  }
}
