// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests
import ThreadkeeperDaemon

/// `threadkeeper networks forget`
struct NetworksForgetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract: "Delete the credentials of a network that was preferred.",
    discussion: """
      Deletes what `threadkeeper preferred show --history` lists of this network, or one entry of it. \
      Credentials of border routers that use the network stay, and are named. The preferred network is \
      not deleted.

      Examples:
        threadkeeper networks forget 1111111122222222
        threadkeeper networks forget p-5f3a9c01
      """)

  @Argument(help: "An Extended PAN ID (16 hex digits), or an id of the history.")
  var network: String

  @OptionGroup var home: HomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let deleted: [FormerNetworkRecord]
    let remaining: [String]
  }

  func run() async throws {
    var request = ThreadRequest(.forgetNetwork)
    if let id = ExtendedPANID(hex: network) {
      request.network = id
    } else if FormerNetwork.isID(network) {
      request.id = network
    } else {
      throw CommandFailure(
        .usage, "\(network.printable) names no network",
        remedy: "give an Extended PAN ID of 16 hex digits, or an id that `threadkeeper preferred "
          + "history` lists")
    }
    let settings = try options.loadOfStore()
    request.home = try settings.home(named: home.home)
    let data = try await DaemonClient(settings: settings).perform(request)
    let report = Report(deleted: data.forgotten ?? [], remaining: data.remaining ?? [])
    try output.show(report, text: text(report))
  }

  private func text(_ report: Report) -> String {
    let deleted = report.deleted.map {
      "Deleted \($0.id): \($0.networkName.printable) (\($0.extendedPANID)), preferred until \($0.until).\n"
    }
    let stay = report.remaining.map {
      "Border router \($0) uses this network; its credentials stay until it leaves, or until "
        + "`threadkeeper credentials delete \($0)`.\n"
    }
    return (deleted + stay).joined()
  }
}
