// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadCredentialStore
import ThreadDataset
import ThreadkeeperDaemon

/// `threadkeeper preferred check`
struct PreferredCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Say whether a dataset is that of the preferred network.",
    discussion: """
      match      all essential parameters are equal, whatever the timestamps
      mismatch   what is named differs
      none       no network is preferred yet

      Example:
        ssh router ot-ctl dataset active -x | head -n 1 | threadkeeper preferred check -

      Exit status: 0 for match, 1 for anything else, 65 for a dataset that is not sound.
      """)

  @Argument(help: "The dataset in hexadecimal digits, @FILE, or - for standard input.")
  var dataset: DatasetArgument

  @OptionGroup var home: HomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let result: String
    let differs: [String]
  }

  func run() throws {
    let dataset: OperationalDataset
    do {
      dataset = try self.dataset.read(allowPartial: false)
    } catch let error as DatasetError {
      throw try DatasetErrorReport(error, argument: nil).failure(output)
    }
    let registry = try Registry(options)
    let name = try registry.settings.home(named: home.home)
    let preferred = try registry.keychain.database.read {
      try ThreadCredentialStore(registry.keychain).preferredNetwork(of: name, $0)
    }
    let check = PreferredCheck(dataset, preferred: preferred)
    let differs = check.differences.map(\.rawValue)
    try output.show(
      Report(result: check.name, differs: differs),
      text: check.name + (differs.isEmpty ? "" : ": " + differs.joined(separator: ", ")) + "\n")
    if check != .match { throw ExitCode(1) }
  }
}
