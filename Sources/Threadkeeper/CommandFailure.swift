import FoundationEssentials
import Settings
import ThreadRequests
import ThreadkeeperSupport

/// Why a command did not do what it was asked for, and what to do about it.
package struct CommandFailure: Error, Equatable {
  /// The exit status of the process.
  package let status: ExitStatus
  /// What went wrong, without a full stop and without any secret.
  package let message: String
  /// What the person can do.
  package let remedy: String?
  /// Of `io.threadkeeper.Failed`, where it is another one than that of the status.
  let code: AnswerCode?

  package init(_ status: ExitStatus, _ message: String, remedy: String? = nil, code: AnswerCode? = nil) {
    self.status = status
    self.message = message
    self.remedy = remedy
    self.code = code
  }
}

/// How a command ends, in the numbers of sysexits.h, so that scripts can tell failures apart.
package enum ExitStatus: Int32 {
  /// The command line is wrong.
  case usage = 64
  /// The input is wrong.
  case badInput = 65
  /// The input can't be read.
  case noInput = 66
  /// Something that is needed does not answer.
  case unavailable = 69
  /// A mistake in threadkeeper itself.
  case software = 70
  /// The operating system refused something.
  case system = 71
  /// A file can't be made.
  case cannotCreate = 73
  /// Reading or writing failed.
  case inputOutput = 74
  /// It may go well at another time.
  case temporary = 75
  /// Not allowed.
  case notPermitted = 77
  /// The configuration is wrong.
  case configuration = 78
}

/// The command line of this process once more, as another user: complete, for a shell.
enum SameCommand {
  /// More hexadecimal digits in a row than an id has are of a dataset, and that is not repeated.
  private static let longestID = 32

  /// sudo passes no variable on, and another user has other defaults: what depends on them is named.
  ///
  /// - Parameters:
  ///   - user: root by default.
  ///   - stateDirectory: where the store lies; nil where the configuration says so.
  ///   - arguments: with the program.
  static func by(
    _ user: UInt32 = 0, stateDirectory: String? = nil, arguments: [String] = CommandLine.arguments,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String {
    let places = SystemPlaces(environment: environment)
    var words = ["sudo"]
    if user != 0 { words += ["-u", (SystemAccount.name(ofUser: user) ?? "#\(user)").quoted] }
    let program = arguments.first ?? ""
    words.append(program.contains("/") ? program.quoted : "threadkeeper")
    let hasCode = arguments.contains("join")
    words += zip(arguments.dropFirst(), arguments).map { argument, before in
      // The id of a router may have digits only, too.
      if hasCode, before != "--router", argument.contains(where: \.isNumber),
        argument.allSatisfy({ $0.isNumber || $0 == " " || $0 == "-" })
      {
        return "CODE"
      }
      let runs = argument.split { !$0.isHexDigit }
      return runs.contains { $0.count > longestID } ? "DATASET" : argument.quoted
    }
    func isGiven(_ option: String) -> Bool { arguments.contains { $0 == option || $0.hasPrefix(option + "=") } }
    if !isGiven("--config"), let file = SettingsLoader.file(named: nil, environment: environment),
      file != places.configuration
    {
      words += ["--config", file.quoted]
    }
    if let stateDirectory, !isGiven("--state-directory"), user != 0 || stateDirectory != places.stateDirectory {
      words += ["--state-directory", stateDirectory.quoted]
    }
    return words.joined(separator: " ")
  }
}
