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
    var text = SettingsText(SetupDraft.heading)
    do {
      try text.set([
        ("mqtt.host", .text("embedded")), ("store.path", .text(settings.store.path)),
        ("store.key_file", .text(settings.store.keyFile)),
      ])
    } catch {
      throw CommandFailure(.software, "the configuration \(path) cannot be made")
    }
    try SetupPlace(path).write(text.text)
    return path
  }
}
