// SPDX-License-Identifier: Apache-2.0

import StatePlaces

extension SettingsReader {
  /// The text given for a key; nil when there is none or it could not be read, which is reported.
  mutating func entry(of key: SettingsKey) -> SettingsEntry? {
    guard let source = sources[key] else { return nil }
    return entry(from: source, of: key.rawValue, isSecret: key.isSecret)
  }

  mutating func entry(from source: SettingsSource, of name: String, isSecret: Bool)
    -> SettingsEntry?
  {
    let place = source.place
    switch source.content {
    case .text(let text, let kind):
      if isSecret, isFileReadableByOthers, case .position = place {
        warn(
          name, at: place,
          "stands in a file that every user of this machine may read; "
            + "use `!secret NAME`, or take the right away with chmod o-r")
      }
      return SettingsEntry(
        text: text, kind: kind, place: place, isHidden: isSecret, directory: directory(for: place))
    case .secret(let file):
      guard isFileName(file, tag: "!secret", name, place) else { return nil }
      return entry(inFile: directory + "/" + file, of: name, place, isSecret: true)
    case .credential(let file):
      guard isFileName(file, tag: "!credential", name, place) else { return nil }
      guard let credentials = environment["CREDENTIALS_DIRECTORY"], !credentials.isEmpty else {
        report(
          name, at: place,
          "`!credential` needs $CREDENTIALS_DIRECTORY, which systemd sets for a unit with "
            + "LoadCredential=")
        return nil
      }
      return entry(inFile: credentials + "/" + file, of: name, place, isSecret: true)
    case .file(let path):
      let home = environment["HOME"]
      guard let path = FilePath.absolute(path, in: workingDirectory, home: home) else {
        report(
          name, at: place, "expected the path of a file, found one with a `~` that leads nowhere")
        return nil
      }
      return entry(inFile: path, of: name, place, isSecret: isSecret)
    }
  }

  /// What is written in the file is relative to it; what a shell passes, to where that stands.
  private func directory(for place: SettingsProblem.Place) -> String {
    if case .variable = place { workingDirectory } else { directory }
  }

  private mutating func isFileName(
    _ file: String, tag: String, _ name: String, _ place: SettingsProblem.Place
  ) -> Bool {
    if file.isEmpty || file == "." || file.contains("/") || file.contains("..")
      || file.contains("\0")
    {
      report(name, at: place, "`\(tag)` expects the plain name of a file, without `/` and `..`")
      return false
    }
    return true
  }

  /// The value that a file holds. It is not shown in any problem, whatever the key is: people
  /// name the wrong file.
  private mutating func entry(
    inFile path: String, of name: String, _ place: SettingsProblem.Place, isSecret: Bool
  ) -> SettingsEntry? {
    let shown = SettingsEntry.shown(path: path)
    do throws(FileFailure) {
      let file = try TextFile(reading: path)
      if isSecret, file.isReadableByOthers {
        warn(
          name, at: place,
          "\(shown) \(OpenFile.openToOthers)")
      }
      guard !file.value.isEmpty else {
        report(name, at: place, "\(shown) is empty")
        return nil
      }
      return SettingsEntry(
        text: file.value, kind: .untyped, place: place, isHidden: true,
        directory: directory(for: place))
    } catch {
      if error.isRefusal { isRefused = true }
      if error.isRefusal, skipsRefusedSecrets { return nil }
      report(name, at: place, "\(shown) \(error.reason)")
      return nil
    }
  }
}
