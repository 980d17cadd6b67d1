// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper client show`
struct ClientShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print the enrolment line and the fingerprint of a client's key file.",
    discussion: """
      Examples:
        threadkeeper client show
        threadkeeper client show --key /etc/threadkeeper/router.key | head -1
      """)

  @OptionGroup var key: ClientKeyOption
  @OptionGroup var output: OutputOptions

  func run() throws {
    let file = try key.file()
    let report = PublicKeysReport(try file.read().keys, keyFile: file.path)
    try output.show(report, text: report.text)
  }
}
