// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper networks accept`
struct NetworksAcceptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Accept a network that is not the preferred one, and end its alerts.",
    discussion: """
      Many homes have a speaker or a hub of another maker with a Thread network of its own. Its routers \
      raise PreferredNetworkMismatch, as an info, until their network is accepted. A router that was on the \
      preferred network and moves to an accepted one is an alert all the same. Nothing else changes.

      Examples:
        threadkeeper networks accept 1111111122222222
        threadkeeper networks accept 1111111122222222 --undo
      """)

  @Argument(help: "The Extended PAN ID: 16 hex digits.")
  var network: String
  @Flag(help: "Take it back: the alerts return.")
  var undo = false

  @OptionGroup var home: HomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    let report = try await DaemonClient(settings: settings).perform(
      AcceptNetwork(
        home: settings.home(named: home.home), extPanId: network, accepted: !undo))
    try output.show(report, text: text(report))
  }

  private func text(_ report: AcceptNetwork.Reply) -> String {
    let name = report.extPanId
    let change =
      switch (undo, report.changed) {
      case (false, true): "\(name) is accepted.\n"
      case (false, false): "\(name) is accepted already.\n"
      case (true, true): "\(name) is not accepted any more.\n"
      case (true, false): "\(name) was not accepted.\n"
      }
    return report.known ? change : change + "This network is not listed now.\n"
  }
}
