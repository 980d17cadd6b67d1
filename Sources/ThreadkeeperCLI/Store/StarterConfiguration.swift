// SPDX-License-Identifier: Apache-2.0

import Settings
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A small configuration to begin with; every key is described in `config/threadkeeper.yaml`.
enum StarterConfiguration {
  /// Writes it beside the store, unless the person has a configuration already.
  ///
  /// - Returns: the file that was written.
  static func write(unlessFound config: String?, _ settings: Settings) throws -> String? {
    guard config == nil else { return nil }
    let path = settings.stateDirectory + "/threadkeeper.yaml"
    guard !FileManager.default.fileExists(atPath: path) else { return nil }
    do {
      try Data(text(settings).utf8).write(to: URL(filePath: path), options: .atomic)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    } catch {
      throw CommandFailure(.cannotCreate, "the configuration \(path) cannot be written")
    }
    return path
  }

  private static func text(_ settings: Settings) -> String {
    """
    # threadkeeper: name this file with --config or THREADKEEPER_CONFIG.
    # config/threadkeeper.yaml in the sources describes every key.
    mqtt:
      # embedded starts a private broker; put the name or address of your own here.
      host: embedded
      # username: threadkeeper    # and its password: threadkeeper login
    store:
      path: \(quoted(settings.store.path))
      key_file: \(quoted(settings.store.keyFile))

    """
  }

  private static func quoted(_ path: String) -> String {
    "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }
}
