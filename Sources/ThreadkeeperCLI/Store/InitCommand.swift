// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bridge
import KeychainCore
import Settings
import ThreadkeeperDaemon

/// `threadkeeper init`
struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Make the encrypted store, its key file and a configuration to start from.",
    discussion: """
      Nothing that exists is changed. `run` makes a store by itself where there is none; `init` is \
      for those who want to look and back up before they start.

      Examples:
        threadkeeper init
        threadkeeper init --state-directory /var/lib/threadkeeper
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let settings = try options.load()
    guard !OpenStore.exists(settings) else {
      throw CommandFailure(
        .cannotCreate, "there is a store in \(settings.store.path) already",
        remedy: "`threadkeeper status` looks at it; `--state-directory` names another place")
    }
    let keychain = try OpenStore.create(settings)
    try BridgeRegistry.prepare(BridgeConfiguration(settings), keychain: keychain)
    keychain.close()
    let configFile = try StarterConfiguration.write(unlessFound: options.read().file, settings)
    let report = Report(
      store: settings.store.path, storeID: keychain.storeID.description,
      keyFile: settings.store.keyFile, config: configFile,
      backUp: [settings.store.keyFile, settings.store.path] + (configFile.map { [$0] } ?? []),
      next: next(configFile))
    try output.show(report, text: report.text)
  }

  /// The command that finds what was made here.
  private func next(_ configFile: String?) -> String {
    let options = [
      (configFile ?? options.config).map { "--config '\($0)'" },
      options.stateDirectory.map { "--state-directory '\($0)'" },
    ]
    return (["threadkeeper run"] + options.compactMap { $0 }).joined(separator: " ")
  }

  struct Report: Encodable {
    let store: String
    let storeID: String
    let keyFile: String
    let config: String?
    let backUp: [String]
    let next: String

    enum CodingKeys: String, CodingKey {
      case store
      case storeID = "store_id"
      case keyFile = "key_file"
      case config
      case backUp = "back_up"
      case next
    }

    var text: String {
      """
      The store is in \(store)
      Its key is in   \(keyFile)
      \(config.map { "Settings are in \($0)" } ?? "Settings: the defaults, or the file you named")

      Back up, in two different places:
        1. the key file \(keyFile)
           Without it nobody can read the store, you included.
           Whoever has it and the store can read every network key.
        2. the store: `threadkeeper store backup FILE`, which works while threadkeeper runs too

      Next: \(next)

      """
    }
  }
}
