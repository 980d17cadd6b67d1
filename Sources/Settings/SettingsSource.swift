// SPDX-License-Identifier: Apache-2.0

/// What was written for a key, before the file that it may name has been read.
struct SettingsSource {
  enum Content {
    case text(String, SettingsEntry.Kind)
    /// `!secret NAME`: a file beside the configuration.
    case secret(name: String)
    /// `!credential NAME`: a file in systemd's credentials directory.
    case credential(name: String)
    /// A variable that ends in `_FILE`.
    case file(path: String)
  }

  let content: Content
  let place: SettingsProblem.Place
}
