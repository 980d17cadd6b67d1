// SPDX-License-Identifier: Apache-2.0

import StatePlaces

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
