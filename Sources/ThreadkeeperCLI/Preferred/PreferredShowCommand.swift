// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BridgeProtocol
import ThreadCredentialStore
import ThreadDataset
import ThreadkeeperDaemon

/// `threadkeeper preferred show`
struct PreferredShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the preferred network. Its dataset only when asked for.",
    discussion: """
      Examples:
        threadkeeper preferred show
        threadkeeper preferred show --show-secrets --json | jq -r .dataset
      """)

  @OptionGroup var home: HomeOption
  @Flag(help: "Print the dataset, which holds the network key.")
  var showSecrets = false
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let home: String
    let networkName: String
    let extendedPANID: String
    let channel: UInt16?
    let panID: UInt16?
    let activeTimestamp: UInt64?
    let changedAt: WireTime
    let dataset: String?

    enum CodingKeys: String, CodingKey {
      case home
      case networkName = "network_name"
      case extendedPANID = "ext_pan_id"
      case channel
      case panID = "pan_id"
      case activeTimestamp = "active_timestamp"
      case changedAt = "changed_at"
      case dataset
    }

    var text: String {
      [
        "network     \(networkName.printable)", "ext pan id  \(extendedPANID)",
        "channel     \(channel.map { String($0) } ?? "")",
        "timestamp   \(activeTimestamp.map { String($0) } ?? "")",
        "changed     \(changedAt)",
        "dataset     \(dataset ?? "not shown; --show-secrets prints it")",
      ].map { $0 + "\n" }.joined()
    }
  }

  func run() throws {
    let registry = try Registry(options)
    let store = ThreadCredentialStore(registry.keychain)
    let name = try registry.settings.home(named: home.home)
    let (dataset, dates, isForgotten) = try registry.keychain.database.read {
      (
        try store.preferredNetwork(of: name, $0), try store.preferredDates(of: name, $0),
        try store.isPreferredForgotten(in: name, $0)
      )
    }
    guard let dataset, let dates else {
      if isForgotten {
        throw CommandFailure(
          .noInput, "no network is preferred, because a person has forgotten the last one",
          remedy: "`threadkeeper preferred history` lists it, and `threadkeeper preferred set` "
            + "chooses one")
      }
      throw CommandFailure(
        .noInput, "no network is preferred yet",
        remedy: "the first network that is stored becomes preferred, "
          + "or `threadkeeper preferred set` chooses one")
    }
    let report = Report(
      home: name, networkName: dataset.networkName ?? "",
      extendedPANID: dataset.extendedPANID?.description ?? "", channel: dataset.channel?.number,
      panID: dataset.panID, activeTimestamp: dataset.activeTimestamp?.seconds,
      changedAt: WireTime(milliseconds: dates.modified / 1_000),
      dataset: showSecrets ? dataset.hex : nil)
    try output.show(report, text: report.text)
  }
}
