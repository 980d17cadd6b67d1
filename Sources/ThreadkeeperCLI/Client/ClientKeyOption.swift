// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Which key file a client's command uses.
struct ClientKeyOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The client's key file.", discussion: "Without it: ~/.config/threadkeeper/client.key.",
      valueName: "file"))
  var key: String?

  func file() throws(CommandFailure) -> ClientKeyFile {
    if let key { return ClientKeyFile(path: key) }
    return ClientKeyFile(path: try Self.usual())
  }

  static func usual() throws(CommandFailure) -> String {
    guard let home = ProcessInfo.processInfo.environment["HOME"], !home.isEmpty else {
      throw CommandFailure(.usage, "there is no home directory to keep a key file in")
    }
    return home + "/.config/threadkeeper/client.key"
  }
}
