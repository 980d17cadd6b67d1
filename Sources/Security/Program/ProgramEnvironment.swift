// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What the environment says about the keychain of this program.
struct ProgramEnvironment {
  private static let prefix = "THREADKEEPER_KEYCHAIN_"
  private let variables: [String: String]
  private let executable: String

  init(
    _ variables: [String: String] = ProcessInfo.processInfo.environment,
    executable: String = Self.executablePath
  ) {
    self.variables = variables
    self.executable = executable
  }

  var directory: String? {
    if let directory = own("DIRECTORY") { return directory }
    // The specification of the base directories says to pass over what is not absolute.
    if let data = variables["XDG_DATA_HOME"], data.hasPrefix("/") { return Self.below(data) }
    guard let home = variables["HOME"], home.hasPrefix("/") else { return nil }
    return Self.below(home + "/.local/share")
  }

  var keyFile: String? { own("KEY_FILE") }
  var passphraseFile: String? { own("PASSPHRASE_FILE") }

  var accessGroups: [String] {
    let named = (own("GROUPS") ?? "").split(separator: ",").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    let groups = named.filter { !$0.isEmpty }
    return groups.isEmpty ? [executableName] : groups
  }

  /// Whether a person may be asked at a terminal.
  var allowsQuestions: Bool { own("PRESENCE") != "none" }

  /// Prints reasons, if the environment says so.
  var report: (@Sendable (OSStatus, String) -> Void)? {
    guard own("REPORT") == "stderr" else { return nil }
    return { status, reason in
      let line = Array("keychain: \(status): \(reason)\n".utf8)
      _ = write(STDERR_FILENO, line, line.count)
    }
  }

  var executableName: String {
    var name = executable.split(separator: "/").last.map(String.init) ?? ""
    // The kernel's mark when the file was replaced while the program runs.
    let mark = " (deleted)"
    if name.hasSuffix(mark) { name.removeLast(mark.count) }
    return name.isEmpty ? "unknown" : name
  }

  /// Empty counts as not set.
  private func own(_ name: String) -> String? {
    variables[Self.prefix + name].flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func below(_ directory: String) -> String { directory + "/threadkeeper/keychain" }

  private static var executablePath: String {
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return path ?? CommandLine.arguments.first ?? ""
  }
}
