// SPDX-License-Identifier: Apache-2.0

import YAMLReader

extension SettingsReader {
  /// Notes where each key of the file has its value; reports what does not belong there.
  mutating func read(_ document: YAMLDocument) {
    guard let root = document.root, !root.isNull else { return }
    guard case .mapping(let mapping) = root.content else {
      report(
        nil, at: document.place(of: root),
        "expected sections such as `mqtt:`, found \(root.kind)")
      return
    }
    read(mapping, of: "", in: document)
  }

  private mutating func read(
    _ mapping: [(key: YAMLNode, value: YAMLNode)], of section: String, in document: YAMLDocument
  ) {
    for (name, key, value) in named(mapping, of: section, in: document) {
      let path = section.isEmpty ? name : "\(section).\(name)"
      if let key = SettingsKey(rawValue: path) {
        read(value, of: key, in: document)
      } else if SettingsKey.mappings.contains(path) {
        mappings[path] = (document, value)
      } else if SettingsKey.names(in: path) != nil {
        if case .mapping(let inner) = value.content {
          read(inner, of: path, in: document)
        } else if !value.isNull {
          report(
            path, at: document.place(of: value), "expected a mapping of keys, found \(value.kind)")
        }
      } else {
        noteUnknown(name, in: section, at: document.place(of: key))
      }
    }
  }

  /// The pairs of a mapping by name, each name once; what has no name or repeats one is reported.
  mutating func named(
    _ mapping: [(key: YAMLNode, value: YAMLNode)], of section: String, in document: YAMLDocument
  ) -> [(name: String, key: YAMLNode, value: YAMLNode)] {
    var pairs: [(name: String, key: YAMLNode, value: YAMLNode)] = []
    var firsts: [String: (place: SettingsProblem.Place, value: YAMLNode)] = [:]
    for (key, value) in mapping {
      let place = document.place(of: key)
      guard case .scalar(let scalar) = key.content else {
        report(
          section.isEmpty ? nil : section, at: place,
          "expected the name of a key, found \(key.kind)")
        continue
      }
      let name = scalar.text
      let path = section.isEmpty ? name : "\(section).\(name)"
      if let first = firsts[name] {
        let where_ =
          if case .position(_, let line, _) = first.place {
            ", first given on line \(line): \(Self.remedy(value, beside: first.value))"
          } else {
            ""
          }
        problems.append(
          SettingsProblem(
            place: place, key: path, message: "duplicate key \(SettingsEntry.shown(path))\(where_)")
        )
        continue
      }
      firsts[name] = (place, value)
      pairs.append((name, key, value))
    }
    return pairs
  }

  /// How a section that is there twice becomes one, as where an example was put to the end of the file.
  private static func remedy(_ value: YAMLNode, beside first: YAMLNode) -> String {
    switch first.content {
    case .mapping(let keys) where !keys.isEmpty:
      guard case .mapping = value.content else { return "keep one of them" }
      let lines = lines(of: value, in: first, below: "", depth: 2)
      return lines.isEmpty
        ? "put the lines of this one below that"
        : "change it there: " + lines.joined(separator: ", ")
    case .scalar(let scalar) where !scalar.isNull: return "keep one of them"
    case .sequence(let elements) where !elements.isEmpty: return "keep one of them"
    default: return "remove that line"
    }
  }

  /// Where a mapping has the keys of another one.
  private static func lines(
    of other: YAMLNode, in first: YAMLNode, below path: String, depth: Int
  ) -> [String] {
    guard depth > 0, case .mapping(let others) = other.content,
      case .mapping(let pairs) = first.content
    else { return [] }
    return others.prefix(shownLines).flatMap { key, value -> [String] in
      guard case .scalar(let name) = key.content,
        let pair = pairs.first(where: {
          if case .scalar(let found) = $0.key.content { found.text == name.text } else { false }
        })
      else { return [] }
      let inner = lines(of: value, in: pair.value, below: path + name.text + ".", depth: depth - 1)
      return inner.isEmpty
        ? ["\(SettingsEntry.shown(path + name.text)) on line \(pair.key.position.line)"] : inner
    }
  }

  private static let shownLines = 8

  private mutating func read(_ value: YAMLNode, of key: SettingsKey, in document: YAMLDocument) {
    let place = document.place(of: value)
    guard case .scalar(let scalar) = value.content else {
      report(key, at: place, "expected \(key.expectation), found \(value.kind)")
      return
    }
    guard !scalar.isNull else { return }
    switch scalar.ownTag {
    case nil:
      let kind: SettingsEntry.Kind = scalar.isPlain ? .plain : .quoted
      sources[key] = SettingsSource(content: .text(scalar.text, kind), place: place)
    case "!secret":
      sources[key] = SettingsSource(content: .secret(name: scalar.text), place: place)
    case "!credential":
      sources[key] = SettingsSource(content: .credential(name: scalar.text), place: place)
    case let tag?:
      report(
        key, at: place,
        "unknown tag \(SettingsEntry.shown(tag)); the known ones are `!secret` and `!credential`")
    }
  }

  private mutating func noteUnknown(
    _ name: String, in section: String, at place: SettingsProblem.Place
  ) {
    let path = section.isEmpty ? name : "\(section).\(name)"
    let siblings = SettingsKey.names(in: section) ?? []
    let elsewhere = SettingsKey.allCases.map(\.rawValue).filter { $0.hasSuffix(".\(name)") }
    let hint: String
    if let nearest = NearestName.nearest(to: name, among: siblings) {
      hint = "did you mean `\(nearest)`?"
    } else if let key = elsewhere.first {
      hint = "did you mean `\(key)`?"
    } else {
      hint = "known here: " + siblings.map { "`\($0)`" }.joined(separator: ", ")
    }
    problems.append(
      SettingsProblem(
        place: place, key: path, message: "unknown key \(SettingsEntry.shown(path)); \(hint)"))
  }
}

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

extension YAMLNode {
  /// What a person would call it. Never its content, which may be a misplaced secret.
  var kind: String {
    switch content {
    case .mapping: "a mapping"
    case .sequence: "a list"
    case .scalar(let scalar): scalar.isNull ? "nothing" : scalar.ownTag != nil ? "a tag" : "text"
    }
  }

  /// The text of a scalar that is neither nothing nor tagged as something else.
  var text: String? {
    guard case .scalar(let scalar) = content, !scalar.isNull, scalar.ownTag == nil else {
      return nil
    }
    return scalar.text
  }

  /// A key with nothing after it, or one of YAML's words for that.
  var isNull: Bool {
    guard case .scalar(let scalar) = content else { return false }
    return scalar.isNull
  }
}
