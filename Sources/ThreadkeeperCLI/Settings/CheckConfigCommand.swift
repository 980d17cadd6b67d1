// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import ThreadkeeperDaemon

/// `threadkeeper check-config`
struct CheckConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check-config",
    abstract: "Check the configuration, and say everything that is wrong with it.",
    discussion: """
      Exits 0 when the configuration can be used, 78 otherwise.

      Examples:
        threadkeeper check-config
        threadkeeper check-config --config config/threadkeeper.yaml
        THREADKEEPER_MQTT_PORT=99999 threadkeeper check-config --json
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let result = options.read()
    let report = ConfigReport(result)
    try output.show(report, text: report.text)
    guard report.usable else { throw ExitCode(ExitStatus.configuration.rawValue) }
  }
}

/// What `check-config` answers.
struct ConfigReport: Encodable {
  struct Problem: Encodable {
    let file: String?
    let variable: String?
    let line: Int?
    let column: Int?
    let severity: String
    let key: String?
    let message: String
  }

  let usable: Bool
  let file: String?
  let problems: [Problem]
  private let lines: [String]

  enum CodingKeys: String, CodingKey { case usable, file, problems }

  init(_ result: SettingsResult) {
    usable = result.settings != nil
    file = result.file
    problems = result.problems.map {
      Problem(
        file: $0.file, variable: $0.variable, line: $0.line, column: $0.column,
        severity: $0.severity.rawValue, key: $0.key, message: $0.message)
    }
    lines = result.problems.map { "\($0)" }
  }

  var text: String {
    let source = file.map { "The configuration in \($0)" } ?? "The default configuration"
    return (lines + ["\(source) \(usable ? "can be used." : "cannot be used.")"])
      .map { $0 + "\n" }.joined()
  }
}
