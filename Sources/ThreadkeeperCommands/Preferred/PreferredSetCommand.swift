// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadDataset
import ThreadRequests

/// `threadkeeper preferred set`
struct PreferredSetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Make another network the preferred one.",
    discussion: """
      A network of which credentials are stored is named by its Extended PAN ID; of several \
      datasets the newest is taken. Any other one is given as a dataset. All routers are then checked \
      anew. Works beside a running keeper and without one.

      Examples:
        threadkeeper preferred set 1111111122222222
        ssh router ot-ctl dataset active -x | head -n 1 | threadkeeper preferred set -

      Other users of the machine can read a dataset that stands on the command line.
      """)

  @Argument(help: "An Extended PAN ID (16 hex digits), a dataset, @FILE, or - for standard input.")
  var network: String

  @OptionGroup var home: HomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let changed: Bool
  }

  func run() async throws {
    var request = ThreadRequest(.setPreferred)
    if let named = ExtendedPANID(hex: network) {
      request.network = named
    } else {
      request.dataset = try dataset()
    }
    let settings = try options.loadOfStore()
    request.home = try settings.home(named: home.home)
    let data = try await RequestCounter(settings: settings).perform(request, isRepeatable: true)
    let changed = data.changed == true
    try output.show(
      Report(changed: changed),
      text: changed
        ? "The preferred network is another one now; all routers are checked anew.\n"
        : "That is the preferred network already.\n")
  }

  private func dataset() throws -> OperationalDataset {
    do {
      let argument = DatasetArgument(argument: network)
      guard let dataset = try argument?.read(allowPartial: false), dataset.kind == .complete else {
        throw CommandFailure(.badInput, "expected an active dataset, not a pending one")
      }
      return dataset
    } catch let error as DatasetError {
      throw try DatasetErrorReport(error, argument: nil).failure(output)
    }
  }
}
