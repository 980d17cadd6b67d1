// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LocalAPI
import Settings
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests
import ThreadkeeperDaemon

/// `threadkeeper preferred check`
struct PreferredCheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Say whether a dataset is that of the preferred network.",
    discussion: """
      match      all essential parameters are equal, whatever the timestamps
      mismatch   what is named differs
      none       no network is preferred yet, or the credentials of the preferred one are not here

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

  func run() async throws {
    let dataset: OperationalDataset
    do {
      dataset = try self.dataset.read(allowPartial: false)
    } catch let error as DatasetError {
      throw try DatasetErrorReport(error).failure(output)
    }
    let settings = try options.loadOfStore()
    var request = ThreadRequest(.checkPreferred)
    request.home = try settings.home(named: home.home)
    request.dataset = dataset
    let answer = try await DaemonClient(settings: settings).perform(
      request, isAdministrator: false, isRepeatable: true)
    guard let result = answer.result else { throw DaemonClient.unreadable }
    let report = Report(result: result.rawValue, differs: answer.differs ?? [])
    let differs = report.differs
    try output.show(
      report,
      text: report.result + (differs.isEmpty ? "" : ": " + differs.joined(separator: ", ")) + "\n")
    if report.result != PreferredCheck.match.name { throw ExitCode(1) }
  }
}
