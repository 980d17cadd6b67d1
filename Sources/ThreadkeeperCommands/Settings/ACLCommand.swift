// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EmbeddedBroker
import Settings

/// `threadkeeper acl`
struct ACLCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "acl",
    abstract: "Print the access list that the broker needs.",
    discussion: """
      MQTT does not tell a receiver who published. The broker's access list does: every login may \
      write below `in/<its own name>/` only.

      Examples:
        threadkeeper acl --keeper threadkeeper --monitor dashboard
        threadkeeper acl | sudo tee /etc/mosquitto/threadkeeper.acl
      """)

  @Option(help: "The broker's login of threadkeeper itself.")
  var keeper: String?

  @Option(
    help: """
      A login that may read states, events and alerts, and say that Home Assistant has started; can be \
      given more than once.
      """)
  var monitor: [String] = []

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let acl: String
  }

  func run() throws {
    let settings = try options.load()
    do {
      let text = try AccessList.text(
        baseTopics: settings.homes.map(\.baseTopic),
        keeper: keeper ?? settings.mqtt.username ?? "threadkeeper", monitors: monitor)
      try output.show(Report(acl: text), text: text)
    } catch let error as EmbeddedBrokerError {
      throw CommandFailure(.usage, "\(error)")
    }
  }
}
