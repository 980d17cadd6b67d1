// SPDX-License-Identifier: Apache-2.0

import YAMLReader

/// A YAML text as nodes, and where it came from, or the one problem that kept it from being read.
struct YAMLDocument {
  enum Origin {
    case file(String)
    case variable(String)
  }

  /// Nil for an empty document.
  let root: YAMLNode?
  private let origin: Origin

  init(parsing text: String, origin: Origin) throws(SettingsProblem) {
    self.origin = origin
    do throws(YAMLFailure) {
      root = try YAMLNode.read(text)
    } catch {
      throw SettingsProblem(
        place: Self.place(of: error.position, origin), key: nil, message: error.message)
    }
  }

  func place(of node: YAMLNode) -> SettingsProblem.Place {
    Self.place(of: node.position, origin)
  }

  private static func place(of position: TextPosition, _ origin: Origin) -> SettingsProblem.Place {
    switch origin {
    case .file(let file):
      .position(file: file, line: position.line, column: position.column)
    case .variable(let name): .variable(name)
    }
  }
}
