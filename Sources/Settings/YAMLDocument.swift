// SPDX-License-Identifier: Apache-2.0

import Yams

/// A YAML text as nodes, with the place of each, or the one problem that kept it from being read.
///
/// Yams stops at a mapping that has a key twice. So that other problems come to light in the
/// same pass, the first of the two gets a name that nobody writes, and the text is read again;
/// `name(of:)` gives the true one back.
struct YAMLDocument {
  enum Origin {
    case file(String)
    case variable(String)
  }

  /// Nil for an empty document.
  let root: Node?
  private let origin: Origin
  private let trueNames: [TextPosition: String]

  /// More duplicates than this in one file are a file of another kind.
  private static let mostDuplicates = 100

  init(parsing text: String, origin: Origin) throws(SettingsProblem) {
    self.origin = origin
    var text = YAMLText(text)
    var trueNames: [TextPosition: String] = [:]
    if let (position, scalar) = text.firstForbidden {
      throw Self.problem(
        "YAML allows no character U+\(String(scalar.value, radix: 16, uppercase: true)) here",
        at: position, origin)
    }
    while true {
      do throws(YAMLFailure) {
        root = try Self.compose(text.string)
        self.trueNames = trueNames
        return
      } catch {
        switch error {
        case .duplicate(let name, let position):
          guard trueNames.count < Self.mostDuplicates, text.disguiseKey(at: position) else {
            throw Self.problem(Self.duplicateMessage(name), at: position, origin)
          }
          trueNames[position] = name
        case .syntax(let message, let position):
          let hint = text.isTab(at: position) ? " (a tab; YAML is indented with spaces)" : ""
          throw Self.problem("not YAML: \(message)\(hint)", at: position, origin)
        }
      }
    }
  }

  static func duplicateMessage(_ name: String) -> String {
    "duplicate key \(SettingsEntry.shown(name))"
  }

  /// The name that a mapping's key was written with.
  func name(of key: Node.Scalar) -> String {
    key.mark.flatMap { trueNames[TextPosition($0)] } ?? key.string
  }

  func place(of node: Node) -> SettingsProblem.Place {
    Self.place(of: node.mark.map(TextPosition.init), origin)
  }

  private static func place(of position: TextPosition?, _ origin: Origin) -> SettingsProblem.Place {
    switch (origin, position) {
    case (.file(let file), let position?):
      .position(file: file, line: position.line, column: position.column)
    case (.file(let file), nil): .file(file)
    case (.variable(let name), _): .variable(name)
    }
  }

  private static func problem(_ message: String, at position: TextPosition?, _ origin: Origin)
    -> SettingsProblem
  {
    SettingsProblem(place: place(of: position, origin), key: nil, message: message)
  }
}
