// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainCore
import SQLiteDatabase
import ThreadkeeperDaemon

extension ThreadkeeperCommand {
  /// Runs the command line of this process, prints what went wrong, and ends the process.
  ///
  /// Wrong usage ends with 64 (`EX_USAGE`), a `CommandFailure` with its own status.
  package static func runAndExit() async -> Never {
    do {
      let command = try await asyncParseAsRoot()
      try await run(command)
      exit(withError: ExitCode.success)
    } catch let failure as CommandFailure {
      end(failure)
    } catch let error as KeychainError {
      end(CommandFailure(error))
    } catch is CancellationError {
      // A question that was broken off: what opens the store is asked for before anything is done.
      stop("Nothing was changed.")
    } catch is DaemonClient.LeftOpen {
      stop("The running daemon may have done it all the same: `threadkeeper status` tells.")
    } catch let error as SQLiteError {
      end(CommandFailure(.inputOutput, "the store cannot be read: \(error.message)"))
    } catch {
      switch exitCode(for: error) {
      case .success: try? StandardStream.output.write(help(error))
      case .validationFailure: break
      default: exit(withError: error)
      }
      guard exitCode(for: error) == .validationFailure else { exit(withError: ExitCode.success) }
      try? StandardStream.error.write(usageMessage(for: error) + "\n")
      exit(withError: ExitCode(ExitStatus.usage.rawValue))
    }
  }

  private static func end(_ failure: CommandFailure) -> Never {
    failure.print()
    exit(withError: ExitCode(failure.status.rawValue))
  }

  private static func stop(_ words: String) -> Never {
    try? StandardStream.error.write("Stopped. \(words)\n")
    exit(withError: ExitCode(130))
  }

  private static func run(_ command: any ParsableCommand) async throws {
    if var command = command as? any AsyncParsableCommand {
      try await command.run()
    } else {
      var command = command
      try command.run()
    }
  }

  /// Help, or what else was asked of the parser: the version, a script for a shell.
  private static func help(_ error: any Error) -> String {
    let text = fullMessage(for: error, columns: HelpText.unwrapped)
    return (text.hasPrefix("OVERVIEW:") ? HelpText.wrapped(text) : text) + "\n"
  }

  /// What the parser says, in our spelling. It repeats an argument that it did not expect, and that
  /// may be a dataset.
  private static func usageMessage(for error: any Error) -> String {
    let text = hidingSecrets(in: fullMessage(for: error, columns: HelpText.unwrapped))
    let message = StandardStream.error.isTerminal ? HelpText.wrapped(text) : text
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
