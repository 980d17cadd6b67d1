// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SealedEnvelope
import SodiumCrypto
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `threadkeeper client`
struct ClientCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "client",
    abstract:
      "For border routers and other clients: keys of their own, and what is sealed with them.",
    discussion: """
      These work on any machine, without a store and without a daemon.
      """,
    subcommands: [
      ClientKeygenCommand.self, ClientSealCommand.self, ClientOpenCommand.self,
      ClientRequestCommand.self,
    ])
}

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

/// `threadkeeper client keygen`
struct ClientKeygenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keygen",
    abstract: "Make the keys of a client.",
    discussion: """
      Prints the enrolment line, which is public: `threadkeeper clients enroll` takes it where the \
      daemon is. Compare the fingerprint there: a line that somebody has replaced on its way has \
      another one.

      Examples:
        threadkeeper client keygen
        threadkeeper client keygen --out /etc/threadkeeper/router.key
        threadkeeper client keygen --json | jq -r .line
      """)

  @Option(
    help: ArgumentHelp(
      "Where to keep them.", discussion: "Without it: ~/.config/threadkeeper/client.key.",
      valueName: "file"))
  var out: String?

  @OptionGroup var output: OutputOptions

  func run() throws {
    let path: String
    if let out {
      path = out
    } else {
      path = try ClientKeyOption.usual()
      let directory = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
      try? FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    }
    let identity: Identity
    do throws(SodiumError) {
      identity = try Identity()
    } catch {
      throw CommandFailure(.system, error.description)
    }
    try ClientKeyFile(path: path).create(identity)
    let report = PublicKeysReport(identity.keys, keyFile: path)
    try output.show(report, text: report.text)
  }
}

extension PublicKeysReport {
  /// The line alone comes first: `head -1` has it.
  var text: String {
    "\(line)\nfingerprint  \(fingerprint)\n" + (keyFile.map { "key file     \($0)\n" } ?? "")
  }
}
