// SPDX-License-Identifier: Apache-2.0

import Settings
import ThreadkeeperDaemon
import YAMLReader

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The configuration file as the answers make it, and the settings that it then means.
struct SetupDraft: Sendable {
  let text: String
  let settings: Settings
  let changes: [SetupAnswers.Change]

  /// Of a file that is not there yet.
  static let heading = """
    # threadkeeper: every key is described in threadkeeper.yaml(5), and in config/threadkeeper.yaml of the sources.

    """

  /// - Parameters:
  ///   - state: `--state-directory`: a new file says that the store is there.
  /// - Throws: `CommandFailure` with status 78 when the file would mean anything else than was answered.
  init(
    _ answers: SetupAnswers, for place: SetupPlace, _ current: Settings, stateDirectory: String?
  ) throws {
    var draft = SettingsText(place.text ?? Self.heading)
    changes = answers.changes(to: current, isNew: place.text == nil)
    do {
      var values = changes.map { ($0.key, $0.value) }
      if place.text == nil, stateDirectory != nil {
        values += [
          ("store.path", .text(current.store.path)),
          ("store.key_file", .text(current.store.keyFile)),
        ]
      }
      try draft.set(values)
    } catch let form as SettingsText.UnknownForm {
      throw Self.byHand(
        place, changes,
        "line \(form.line) of \(place.path) has `\(form.key)` in a form that is not changed here")
    }
    text = changes.isEmpty && place.text != nil ? place.text ?? "" : draft.text
    let result = Self.load(text, place, stateDirectory: stateDirectory)
    guard let settings = result.settings else {
      let problems = result.problems.filter { $0.severity == .error }.map { "\($0)" }
      throw CommandFailure(
        .configuration, "these settings cannot be used: \(problems.joined(separator: "; "))",
        remedy: "nothing was written; answer otherwise")
    }
    guard settings == answers.expected(from: current, settings) else {
      throw Self.byHand(
        place, changes,
        "\(place.path) would not say what was answered: perhaps a variable THREADKEEPER_… wins over it"
      )
    }
    self.settings = settings
  }

  /// The settings that a text means as the configuration file.
  static func load(
    _ text: String, _ place: SetupPlace, stateDirectory: String?
  ) -> SettingsResult {
    SettingsLoader.load(
      text: text, as: place.path, environment: ProcessInfo.processInfo.environment,
      stateDirectory: stateDirectory)
  }

  private static func byHand(
    _ place: SetupPlace, _ changes: [SetupAnswers.Change], _ why: String
  ) -> CommandFailure {
    let lines = changes.map { "`\($0.key)`: \($0.to)" }.joined(separator: ", ")
    return CommandFailure(
      .configuration, why, remedy: "nothing was written; change these keys yourself: \(lines)")
  }
}
