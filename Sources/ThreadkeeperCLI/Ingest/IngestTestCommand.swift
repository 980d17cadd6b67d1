// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BridgeProtocol
import IngestRules
import Settings
import ThreadkeeperDaemon

/// `threadkeeper ingest test TOPIC PAYLOAD`
struct IngestTestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Say what the rules of `ingest` make of a message.",
    discussion: """
      Reads the settings, and needs neither a daemon nor a broker. It names every rule that matches \
      the topic, and the event that comes out, or why none does. Whether the router is known, and \
      whose it is, only the daemon can say. Keys are never printed.

      Examples:
        threadkeeper ingest test otbr/kitchen/LWT Offline
        mosquitto_sub -C 1 -N -t otbr/kitchen/status \\
          | threadkeeper ingest test otbr/kitchen/status -

      A line end counts: without -N, mosquitto_sub adds one, and so does echo without -n.

      Other users of the machine can read a payload that stands on the command line. Prefer "-" \
      where it has a dataset.

      Exit status: 0 when at least one event comes out and no rule rejects the message, otherwise \
      65; 78 when the settings cannot be used.
      """)

  @Argument(help: "The topic of the message, as it is published.")
  var topic: String

  @Argument(help: "The payload, or - for standard input.")
  var payload: String

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !topic.isEmpty, !topic.contains("+"), !topic.contains("#"), !topic.contains("\0") else {
      throw ValidationError("Give one topic, without `+` and `#`.")
    }
  }

  func run() throws {
    let settings = try options.load()
    let report = IngestReport(topic: topic, payload: try bytes(), settings)
    try output.show(report, text: report.text)
    guard report.isTaken else { throw ExitCode(ExitStatus.badInput.rawValue) }
  }

  private func bytes() throws(CommandFailure) -> [UInt8] {
    guard payload == "-" else { return Array(payload.utf8) }
    guard let bytes = try StandardInput.read(limit: 1 << 20) else {
      throw CommandFailure(.badInput, "the payload is larger than 1 MiB")
    }
    return bytes
  }
}
