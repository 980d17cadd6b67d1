// SPDX-License-Identifier: Apache-2.0

import StatePlaces

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Loads the settings: defaults, then the file, then the variables.
package enum SettingsLoader {
  /// Reads everything once and reports every problem in the same pass.
  ///
  /// - Parameters:
  ///   - file: the configuration file; nil to search for one, see `search`.
  ///   - environment: the process's variables.
  ///   - stateDirectory: where state lies that no key names a place for; nil for the rule of
  ///     `StateDirectory`.
  ///   - otherVariables: names that begin with `THREADKEEPER_` and are read by somebody else.
  ///   - skipsRefusedSecrets: whether a key whose secret this user may not read counts as not given.
  ///   - systemFile: the last place of the search; nil for that of `SystemPlaces`.
  ///   - workingDirectory: what paths on the command line and in variables are relative to.
  ///   - isRoot: whether the process runs as root.
  package static func load(
    file: String?, environment: [String: String], stateDirectory: String? = nil,
    otherVariables: Set<String> = [], skipsRefusedSecrets: Bool = false,
    systemFile: String? = nil,
    workingDirectory: String = currentDirectory(), isRoot: Bool = geteuid() == 0
  ) -> SettingsResult {
    let found = search(
      file: file, environment: environment,
      systemFile: systemFile ?? SystemPlaces(environment: environment).configuration,
      workingDirectory: workingDirectory)
    let directory = found.map { FilePath.directory(of: $0.path) } ?? workingDirectory
    var reader = SettingsReader(
      environment: environment, directory: directory, workingDirectory: workingDirectory)
    reader.skipsRefusedSecrets = skipsRefusedSecrets
    if let found { read(found, into: &reader) }
    return result(
      &reader, file: found?.path, stateDirectory: stateDirectory, otherVariables: otherVariables,
      isRoot: isRoot)
  }

  /// The same of a text that is to become the configuration file at an absolute path. That file is not read, and need
  /// not be there.
  package static func load(
    text: String, as path: String, environment: [String: String], stateDirectory: String? = nil,
    workingDirectory: String = currentDirectory(), isRoot: Bool = geteuid() == 0
  ) -> SettingsResult {
    var reader = SettingsReader(
      environment: environment, directory: FilePath.directory(of: path),
      workingDirectory: workingDirectory)
    do throws(SettingsProblem) {
      reader.read(try YAMLDocument(parsing: text, origin: .file(path)))
    } catch {
      reader.problems.append(error)
    }
    return result(
      &reader, file: path, stateDirectory: stateDirectory, otherVariables: [], isRoot: isRoot)
  }

  /// The configuration file that `load` reads: its absolute path; nil where there is none. One that is named need not be
  /// there.
  package static func file(
    named file: String?, environment: [String: String],
    workingDirectory: String = currentDirectory()
  ) -> String? {
    search(
      file: file, environment: environment,
      systemFile: SystemPlaces(environment: environment).configuration,
      workingDirectory: workingDirectory)?.path
  }

  private static func result(
    _ reader: inout SettingsReader, file: String?, stateDirectory: String?,
    otherVariables: Set<String>, isRoot: Bool
  ) -> SettingsResult {
    let (environment, workingDirectory) = (reader.environment, reader.workingDirectory)
    reader.readVariables(others: otherVariables)
    let state = StateDirectory.path(
      given: stateDirectory, environment: environment, workingDirectory: workingDirectory,
      isRoot: isRoot)
    if state == nil {
      reader.report(
        nil, at: .defaults,
        "no place for the state: $HOME is not set; set THREADKEEPER_STATE_DIRECTORY")
    }
    let settings = reader.settings(stateDirectory: state ?? workingDirectory)
    return SettingsResult(
      settings: reader.hasErrors ? nil : settings, problems: reader.problems.sorted(),
      file: file, isRefused: reader.isRefused)
  }

  private static func read(_ found: FoundFile, into reader: inout SettingsReader) {
    do throws(FileFailure) {
      let file = try TextFile(reading: found.path)
      reader.isFileReadableByOthers = file.isReadableByOthers
      do throws(SettingsProblem) {
        reader.read(try YAMLDocument(parsing: file.text, origin: .file(found.shown)))
      } catch {
        reader.problems.append(error)
      }
    } catch {
      if error.isRefusal { reader.isRefused = true }
      let place: SettingsProblem.Place =
        if let position = error.position {
          .position(file: found.shown, line: position.line, column: position.column)
        } else {
          .file(found.shown)
        }
      reader.report(nil, at: place, "the configuration \(error.reason)")
    }
  }

  package static func currentDirectory() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
  }
}

extension SettingsLoader {
  /// A configuration file: its absolute path, and the name that problems show.
  struct FoundFile {
    let path: String
    let shown: String
  }

  /// The file that is meant, in this order:
  ///
  /// 1. the one given on the command line,
  /// 2. `$THREADKEEPER_CONFIG`,
  /// 3. `$XDG_CONFIG_HOME/threadkeeper/threadkeeper.yaml`, without that variable below `~/.config`,
  /// 4. `/etc/threadkeeper/threadkeeper.yaml`.
  ///
  /// The first two must be there. Of the others the first that is there counts; without any,
  /// defaults hold. The working directory is not searched: a service must not change with the
  /// place it is started from.
  static func search(
    file: String?, environment: [String: String], systemFile: String, workingDirectory: String
  ) -> FoundFile? {
    let home = environment["HOME"]
    let named = environment["THREADKEEPER_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
    if let file = file ?? named {
      let path = FilePath.absolute(file, in: workingDirectory, home: home) ?? file
      return FoundFile(path: path, shown: file)
    }
    let configuration = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let own = FilePath.absolute(
      (configuration ?? "~/.config") + "/threadkeeper/threadkeeper.yaml", in: "/", home: home)
    for path in [own, systemFile] {
      // One that is there and can't be read is an error of its own, not a reason to go on.
      if let path, access(path, F_OK) == 0 || errno == EACCES {
        return FoundFile(path: path, shown: path)
      }
    }
    return nil
  }
}
