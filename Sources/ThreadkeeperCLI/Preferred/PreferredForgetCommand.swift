// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadRequests
import ThreadkeeperDaemon

/// `threadkeeper preferred forget`
struct PreferredForgetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract: "Let no network be the preferred one.",
    discussion: """
      The network is kept in the history. From then on no border router is checked, and no announcement \
      makes a network the preferred one: choose one with `threadkeeper preferred set`. Works beside \
      a running daemon and without one.

      Examples:
        threadkeeper preferred forget
        threadkeeper preferred set home
      """)

  @OptionGroup var home: HomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let kept: FormerNetworkRecord?
  }

  func run() async throws {
    let settings = try options.loadOfStore()
    var request = ThreadRequest(.forgetPreferred)
    request.home = try settings.home(named: home.home)
    let data = try await RequestClient(settings: settings).perform(request, isRepeatable: false)
    let kept = data.forgotten?.first
    let name = kept.map { "\($0.networkName.printable) is kept as \($0.id). " } ?? ""
    try output.show(
      Report(kept: kept),
      text: "No network is preferred now. \(name)"
        + "Choose one with `threadkeeper preferred set`.\n")
  }
}
