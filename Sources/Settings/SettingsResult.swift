// SPDX-License-Identifier: Apache-2.0

/// What came of loading: settings, unless a problem is an error, and all problems at once.
package struct SettingsResult: Sendable {
  /// Nil when at least one problem is an error.
  package let settings: Settings?
  /// In the order of the file, then of the variables.
  package let problems: [SettingsProblem]
  /// The configuration file that was read; nil when there is none and defaults hold.
  package let file: String?
  /// Whether this user may not read that file, or one of a secret.
  package let isRefused: Bool

  package init(
    settings: Settings?, problems: [SettingsProblem], file: String?, isRefused: Bool = false
  ) {
    self.isRefused = isRefused
    self.settings = settings
    self.problems = problems
    self.file = file
  }
}
