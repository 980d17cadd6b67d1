// SPDX-License-Identifier: Apache-2.0

/// Where state lies that no key names a place for. The first that is there:
///
/// 1. what the caller says (`--state-directory`),
/// 2. `$THREADKEEPER_STATE_DIRECTORY`,
/// 3. `$STATE_DIRECTORY`, which systemd sets for a unit with `StateDirectory=`,
/// 4. for root, `/var/lib/threadkeeper` (see `SystemPlaces`),
/// 5. `$XDG_DATA_HOME/threadkeeper`, without it `~/.local/share/threadkeeper`.
package enum StateDirectory {
  /// - Returns: an absolute path; nil when no rule gives one (no `HOME`).
  package static func path(
    given: String?, environment: [String: String], workingDirectory: String, isRoot: Bool
  ) -> String? {
    func named(_ variable: String) -> String? {
      environment[variable].flatMap { $0.isEmpty ? nil : $0 }
    }
    let home = named("HOME")
    if let path = given ?? named("THREADKEEPER_STATE_DIRECTORY") {
      return FilePath.absolute(path, in: workingDirectory, home: home)
    }
    // systemd separates several by colons.
    if let path = named("STATE_DIRECTORY")?.split(separator: ":").first, path.hasPrefix("/") {
      return FilePath.absolute(String(path), in: "/", home: nil)
    }
    if isRoot { return SystemPlaces(environment: environment).stateDirectory }
    // The XDG base directory specification has relative paths ignored.
    if let path = named("XDG_DATA_HOME"), path.hasPrefix("/") {
      return FilePath.absolute(path + "/threadkeeper", in: "/", home: nil)
    }
    return FilePath.absolute("~/.local/share/threadkeeper", in: "/", home: home)
  }
}
