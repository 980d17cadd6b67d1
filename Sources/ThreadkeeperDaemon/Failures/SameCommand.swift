// SPDX-License-Identifier: Apache-2.0

import Settings
import StatePlaces

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The command line of this process once more, as another user: complete, for a shell.
package enum SameCommand {
  /// More hexadecimal digits in a row than an id has are of a dataset, and that is not repeated.
  private static let longestID = 32

  /// sudo passes no variable on, and another user has other defaults: what depends on them is named.
  ///
  /// - Parameters:
  ///   - user: root by default.
  ///   - stateDirectory: where the store lies; nil where the configuration says so.
  ///   - arguments: with the program.
  package static func by(
    _ user: UInt32 = 0, stateDirectory: String? = nil,
    arguments: [String] = CommandLine.arguments,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String {
    let places = SystemPlaces(environment: environment)
    var words = ["sudo"]
    if user != 0 { words += ["-u", (SystemAccount.name(ofUser: user) ?? "#\(user)").quoted] }
    let program = arguments.first ?? ""
    words.append(program.contains("/") ? program.quoted : "threadkeeper")
    words += arguments.dropFirst().map { argument in
      let runs = argument.split { !$0.isHexDigit }
      return runs.contains { $0.count > longestID } ? "DATASET" : argument.quoted
    }
    func isGiven(_ option: String) -> Bool {
      arguments.contains { $0 == option || $0.hasPrefix(option + "=") }
    }
    if !isGiven("--config"),
      let file = SettingsLoader.file(named: nil, environment: environment),
      file != places.configuration
    {
      words += ["--config", file.quoted]
    }
    if let stateDirectory, !isGiven("--state-directory"),
      user != 0 || stateDirectory != places.stateDirectory
    {
      words += ["--state-directory", stateDirectory.quoted]
    }
    return words.joined(separator: " ")
  }
}
