// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
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
