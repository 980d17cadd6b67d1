// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LocalRequests
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
    let report = try await check(dataset, settings.home(named: home.home), settings)
    let differs = report.differs
    try output.show(
      report,
      text: report.result + (differs.isEmpty ? "" : ": " + differs.joined(separator: ", ")) + "\n")
    if report.result != PreferredCheck.match.name { throw ExitCode(1) }
  }

  private func check(
    _ dataset: OperationalDataset, _ home: String, _ settings: Settings
  ) async throws -> Report {
    var request = ThreadRequest(.checkPreferred)
    request.home = home
    request.dataset = dataset
    return try await DaemonClient.orStore(isRepeatable: true) {
      guard let method = RequestMethods.method(.checkPreferred) else { return nil }
      let answer = try await DaemonClient(settings: settings).call(
        method, RequestParameters(request), within: .seconds(60))
      return try answer.map {
        guard let result = $0.result else { throw DaemonClient.unreadable }
        return Report(result: result.rawValue, differs: $0.differs ?? [])
      }
    } store: {
      let keychain = try OpenStore.forReading(settings)
      let preferred = try keychain.database.read {
        try ThreadCredentialStore(keychain).preferredNetwork(of: home, $0)
      }
      let check = PreferredCheck.answer(about: dataset, preferred: preferred)
      return Report(result: check.name, differs: check.differences.map(\.rawValue))
    }
  }
}
