// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import SodiumCrypto
import ThreadkeeperDaemon

/// `threadkeeper setup`
struct SetupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "setup",
    abstract: "Ask for the broker, try it, and write the settings.",
    discussion: """
      Tries the login, looks at what the broker allows, writes the settings, makes the store, and \
      prints what to add to the broker. Changes only the keys that it asks about, and nothing on \
      the broker. Running it again is safe: an answer that is there is the default.

      Without a terminal all answers are options. The password comes from a file or from standard \
      input, never from the command line.

      Ends with 64 when an option is missing, 69 when the broker is not reached, 77 when it refuses \
      the login: nothing is written then. 75: threadkeeper runs with another broker or login, or the \
      file was changed meanwhile; 78: the file cannot be changed here.

      Examples:
        sudo threadkeeper setup
        threadkeeper setup --broker embedded
        threadkeeper setup --broker 127.0.0.1 --login tk --password-file - <secret
        threadkeeper setup --dry-run --json --yes --password-file secret
      """)

  @OptionGroup var flags: SetupFlags

  @Flag(name: .shortAndLong, help: "Ask nothing, and take every default.")
  var yes = false

  @Flag(help: "Ask for the base topic, too.")
  var advanced = false

  @Flag(help: "Write nothing, and say what would be written.")
  var dryRun = false

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try? ProcessHardening.forbidCoreDumps()
    let place = try SetupPlace.find(options)
    let current = try load(place)
    // Before signals are caught: reading here is ended by them as everywhere.
    let given = try flags.passwordFile.map { try Password.fromFile($0) }
    let prompt = TerminalLoginPrompt()
    let progress = SetupProgress()
    let session = SetupSession(
      flags: flags, options: options, place: place, current: current, prompt: prompt,
      isAsking: !yes && prompt.isPossible, takesDefaults: yes, isAdvanced: advanced,
      isDryRun: dryRun, given: given, progress: progress)
    let report = try await Interruptible.run(orSay: { progress.words }) { try await session.run() }
    try output.show(report, text: report.text)
  }

  /// The settings as they are.
  private func load(_ place: SetupPlace) throws -> Settings {
    let result = SetupDraft.load(place.text ?? "", place, stateDirectory: options.stateDirectory)
    for problem in result.problems where problem.severity == .error {
      try StandardStream.error.write("\(problem)\n")
    }
    guard let settings = result.settings else {
      throw CommandFailure(
        .configuration, "the configuration cannot be used",
        remedy: "fix what is listed above; `threadkeeper check-config` checks it again")
    }
    return settings
  }
}
