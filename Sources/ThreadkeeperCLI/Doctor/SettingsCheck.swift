// SPDX-License-Identifier: Apache-2.0

import Settings

/// Whether the settings can be used, and who can read or change their file.
enum SettingsCheck {
  private static let check = Check(.settings, "settings")

  static func findings(_ result: SettingsResult) -> [Finding] {
    let found = result.problems.map { problem in
      let text = "\(problem.place): \(problem.message)"
      if problem.severity == .error { return check.problem(text, remedy) }
      guard isOpen(problem) else { return check.warning(text, remedy) }
      return check.problem(
        text,
        "Run `chmod o-rwx FILE` with that file, or store the password by `threadkeeper login`",
        .notPermitted)
    }
    guard found.isEmpty else { return found }
    let source = result.file.map { "in \($0)" } ?? "are the defaults: there is no file; they"
    return [check.ok("The settings \(source) can be used")]
  }

  private static let remedy =
    "Correct it there. `threadkeeper check-config` checks the settings again"

  /// A secret that others may read: the settings can be used, and should not be.
  private static func isOpen(_ problem: SettingsProblem) -> Bool {
    problem.message.contains("every user of this machine")
  }

  /// - Parameter mode: permissions of the file.
  static func findings(file: String, mode: UInt32) -> [Finding] {
    let check = Check(.settings, "settings_file")
    guard mode & 0o002 != 0 else { return [check.ok("Not every user can change \(file)")] }
    return [
      check.problem(
        "Every user of this machine can change \(file)", "Run `chmod o-w \(file)`", .notPermitted)
    ]
  }
}
