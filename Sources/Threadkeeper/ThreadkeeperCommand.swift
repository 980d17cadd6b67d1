import ArgumentParser
import KeychainCore
import SQLiteDatabase
import Settings
import SodiumCrypto

/// The command that all others hang from.
package struct ThreadkeeperCommand: AsyncParsableCommand {
  /// Whether the command line that is parsed may ask for a completion script. The parser looks for that with two more
  /// parsers, but not in a command that has one above it (swift-argument-parser 1.8.2,
  /// `checkForCompletionScriptRequest`). Where it looks all the same, parsing only takes longer.
  @TaskLocal private static var mayAskForScript = true

  /// The command that the words are, not yet run.
  static func parsed(_ words: [String]) async throws -> any ParsableCommand {
    let mayAsk = words.contains { $0.hasPrefix("--generate-completion-script") }
    return try await $mayAskForScript.withValue(mayAsk) { try await asyncParseAsRoot(words) }
  }

  package static var configuration: CommandConfiguration {
    var configuration = CommandConfiguration(
      commandName: "threadkeeper", abstract: "Keeps the Thread credentials of a home's border routers.",
      discussion: """
        A daemon listens on MQTT to border routers that announce themselves, leave or change their \
        dataset, keeps their credentials in an encrypted store, and raises an alert when a router is \
        not on the preferred network.

        Start with:
          threadkeeper demo          watch it work for a minute; it touches nothing
          threadkeeper setup         name your broker, and what it needs
          threadkeeper run           run it, with a private broker unless configured
          threadkeeper status        see how it is
        """, version: threadkeeperVersion,
      groupedSubcommands: [
        CommandGroup(name: "Run it", subcommands: [RunCommand.self, DemoCommand.self, AgentCommand.self]),
        CommandGroup(
          name: "Look at it",
          subcommands: [
            StatusCommand.self, DoctorCommand.self, RoutersCommand.self, NetworksCommand.self, AlertsCommand.self,
            CredentialsCommand.self, PreferredCommand.self, AuditCommand.self,
          ]), CommandGroup(name: "Decide", subcommands: [ConsentCommand.self]),
        CommandGroup(
          name: "Set it up",
          subcommands: [
            SetupCommand.self, LoginCommand.self, KeysCommand.self, CheckConfigCommand.self, ACLCommand.self,
            ClientsCommand.self, StoreCommand.self, PageCommand.self,
          ]), CommandGroup(name: "Tools", subcommands: [ClientCommand.self, DatasetCommand.self]),
      ] + (FleetParts.current?.commands ?? []))
    if !mayAskForScript { configuration._superCommandName = "" }
    return configuration
  }

  package init() {}
}

extension ThreadkeeperCommand {
  /// Runs the command line of this process, prints what went wrong, and ends the process.
  ///
  /// - Parameter fleet: what the program has of fleets.
  package static func runAndExit(with fleet: FleetParts? = nil) async -> Never {
    // Before a key, a password, a token or a dataset is read.
    try? ProcessHardening.forbidCoreDumps()
    let words = Array(CommandLine.arguments.dropFirst())
    exit(withError: ExitCode(await FleetParts.$current.withValue(fleet) { await status(running: words) }))
  }

  /// Runs a command line, and prints what went wrong.
  ///
  /// Wrong usage ends with 64 (`EX_USAGE`), a `CommandFailure` with its own status.
  static func status(running words: [String]) async -> Int32 {
    do {
      let (home, command) = try await FleetHome.parse(words)
      try await FleetHome.$target.withValue(home) { try await run(command) }
      return ExitCode.success.rawValue
    } catch let failure as CommandFailure { return status(failure) } catch let error as KeychainError {
      return status(CommandFailure(error))
    } catch is CancellationError {
      // A question that was broken off: what opens the store is asked for before anything is done.
      return stop("Nothing was changed.")
    } catch is DaemonClient.LeftOpen {
      return stop("The running daemon may have done it all the same: `threadkeeper status` shows it.")
    } catch let error as SQLiteError {
      return status(CommandFailure(.inputOutput, "the store cannot be read: \(error.message)"))
    } catch { return status(error, of: words) }
  }

  private static func status(_ failure: CommandFailure) -> Int32 {
    failure.print()
    return failure.status.rawValue
  }

  private static func stop(_ words: String) -> Int32 {
    try? StandardStream.error.write("Stopped. \(words)\n")
    return stopped.rawValue
  }

  /// Of an error that is the parser's, or a status without words.
  private static func status(_ error: any Error, of words: [String]) -> Int32 {
    let code = exitCode(for: error)
    switch code {
    // Help, or what else was asked of the parser: the version, a script for a shell.
    case .success: try? StandardStream.output.write(fullMessage(for: error) + "\n")
    case .validationFailure:
      var lines = usageMessage(for: error).split(separator: "\n", omittingEmptySubsequences: false)
      if let meant = command(meantBy: words) { lines[0] += ". Did you mean '\(meant)'?" }
      try? StandardStream.error.write(lines.joined(separator: "\n") + "\n")
      return ExitStatus.usage.rawValue
    default:
      let message = fullMessage(for: error)
      if !message.isEmpty { try? StandardStream.error.write(message + "\n") }
    }
    return code.rawValue
  }

  /// What a shell reports for a program that Ctrl-C has ended.
  static let stopped = ExitCode(130)

  private static func run(_ command: any ParsableCommand) async throws {
    if var command = command as? any AsyncParsableCommand {
      try await command.run()
    } else {
      var command = command
      try command.run()
    }
  }

  /// What was probably meant, where a word is none of the commands that can stand there; the parser has such advice for
  /// options only.
  static func command(meantBy words: [String]) -> String? {
    var names = [_commandName]
    var commands = configuration.subcommands
    // What follows an option may be its value.
    for word in words.prefix(while: { !$0.hasPrefix("-") }) where !commands.isEmpty {
      if let command = commands.first(where: { $0._commandName == word }) {
        names.append(word)
        commands = command.configuration.subcommands
      } else {
        return NearestName.nearest(to: word, among: commands.map { $0._commandName }).map {
          (names + [$0]).joined(separator: " ")
        }
      }
    }
    return nil
  }

  /// What the parser says, in our spelling. It repeats an argument that it did not expect, and that
  /// may be a dataset.
  private static func usageMessage(for error: any Error) -> String {
    // In lines as long as they are: none of them breaks a row of digits.
    let message = hidingSecrets(in: fullMessage(for: error, columns: 100_000))
    return message.hasPrefix("Error:") ? "error:" + message.dropFirst(6) : message
  }

  /// Text in which a row of 32 hexadecimal digits or more is only counted: it may be a key.
  static func hidingSecrets(in text: String) -> String {
    var shown = ""
    var digits = ""
    func show() {
      shown += digits.count < 32 ? digits : "<\(digits.count) hexadecimal digits>"
      digits = ""
    }
    for character in text {
      if character.isHexDigit {
        digits.append(character)
      } else {
        show()
        shown.append(character)
      }
    }
    show()
    return shown
  }
}
