// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import IngestRules
import YAMLReader

/// What a rule of the setting `ingest` takes from a message.
extension SettingsReader {
  mutating func ingestFields(
    _ node: YAMLNode?, of event: InboundEventKind?, _ filter: TopicFilter?, _ scope: IngestScope
  ) -> [InboundEventField: IngestValue] {
    let path = "\(scope.path).fields"
    guard let node else { return [:] }
    guard case .mapping(let mapping) = node.content else {
      report(
        path, at: scope.document.place(of: node),
        "expected a mapping from a field to a JSON pointer or a text, found \(node.kind)")
      return [:]
    }
    let known = event.map(InboundEventField.all(of:)) ?? InboundEventField.allCases
    var fields: [InboundEventField: IngestValue] = [:]
    for (name, key, value) in named(mapping, of: path, in: scope.document) {
      guard let field = InboundEventField(rawValue: name), known.contains(field) else {
        noteUnknown(
          name, among: known.map(\.rawValue), in: path, at: scope.document.place(of: key),
          of: event.map { "`\($0.rawValue)`" })
        continue
      }
      let expected = "a JSON pointer such as `/\(name)`, or a text"
      guard let (text, place) = ingestText(value, "fields.\(name)", expected, scope) else {
        continue
      }
      do throws(IngestFlaw) {
        let source = try IngestValue(text)
        if case .text(let template) = source {
          try check(template.parts, of: filter)
          guard field != .sequence && field != .identifier || template.usesPayload else {
            throw IngestFlaw(
              "has to change with every message; write a JSON pointer, or leave it out")
          }
          if let constant = template.constant, let event {
            try check(constant, as: field, of: event)
          }
        }
        fields[field] = source
      } catch {
        // A dataset has keys in it. What is wrong with a constant may say already what was found.
        let isShown = field != .dataset && !error.message.contains(", found ")
        let found = isShown ? ", found \(SettingsEntry.shown(text))" : ""
        report("\(path).\(name)", at: place, "\(error.message)\(found)")
      }
    }
    return fields
  }

  /// A text that is the same for every message is checked now.
  private func check(
    _ constant: String, as field: InboundEventField, of event: InboundEventKind
  ) throws(IngestFlaw) {
    guard field != .dataset else {
      throw IngestFlaw("a dataset has keys in it and belongs in no settings; write a JSON pointer")
    }
    // What is looked at needs no dataset: an `announce` has the same fields.
    let event = event == .dataset ? .announce : event
    let values: [InboundEventField: String] = [.borderAgentID: "0000000000000001", .ssid: "a"]
    do throws(Rejection) {
      _ = try InboundEventDecoder().event(event, values.merging([field: constant]) { $1 })
    } catch {
      if error.field == field.rawValue { throw IngestFlaw(error.message) }
    }
  }

  mutating func conditions(_ node: YAMLNode?, _ scope: IngestScope) -> [IngestCondition] {
    let path = "\(scope.path).when"
    guard let node else { return [] }
    guard case .mapping(let mapping) = node.content else {
      report(
        path, at: scope.document.place(of: node),
        "expected a mapping from `payload` or a JSON pointer to a text or a list, found \(node.kind)"
      )
      return []
    }
    if mapping.count > IngestLimits.conditions {
      report(
        path, at: scope.document.place(of: node),
        "expected at most \(IngestLimits.conditions) conditions, found \(mapping.count)")
    }
    var conditions: [IngestCondition] = []
    for (name, key, value) in named(mapping, of: path, in: scope.document) {
      let nodes: [YAMLNode]
      if case .sequence(let elements) = value.content { nodes = elements } else { nodes = [value] }
      let texts = nodes.compactMap {
        ingestText($0, "when.\(name)", "a text, a list of texts, or `'*'` for any value", scope)?
          .text
      }
      if !(1...IngestLimits.conditionValues).contains(nodes.count) {
        report(
          "\(path).\(name)", at: scope.document.place(of: value),
          "expected 1 to \(IngestLimits.conditionValues) values, found \(nodes.count)")
      }
      do throws(IngestFlaw) {
        conditions.append(try IngestCondition(name, values: texts))
      } catch {
        report(
          path, at: scope.document.place(of: key),
          "\(error.message), found \(SettingsEntry.shown(name))")
      }
    }
    return conditions
  }

  /// The text of a key of a rule.
  ///
  /// - Parameter node: nil for a key that is not there, which is reported like another form.
  mutating func ingestText(
    _ node: YAMLNode?, _ key: String, _ expected: String, _ scope: IngestScope
  ) -> (text: String, place: SettingsProblem.Place)? {
    guard let node else {
      report("\(scope.path).\(key)", at: scope.place, "is missing; expected \(expected)")
      return nil
    }
    let place = scope.document.place(of: node)
    guard let text = node.text else {
      var hint = ""
      // `{router}` without quotes is a mapping to YAML.
      if case .mapping(let pairs) = node.content, let part = pairs.first, pairs.count == 1,
        part.value.isNull, let name = part.key.text, name.utf8.allSatisfy(ASCII.isNameByte)
      {
        hint = "; put it in quotes: `'{\(name)}'`"
      }
      report("\(scope.path).\(key)", at: place, "expected \(expected), found \(node.kind)\(hint)")
      return nil
    }
    return (text, place)
  }

  mutating func noteUnknown(
    _ name: String, among known: [String], in section: String, at place: SettingsProblem.Place,
    of event: String? = nil
  ) {
    let hint =
      NearestName.nearest(to: name, among: known).map { "did you mean `\($0)`?" }
      ?? "known here: " + known.map { "`\($0)`" }.joined(separator: ", ")
    problems.append(
      SettingsProblem(
        place: place, key: "\(section).\(name)",
        message: "unknown key \(SettingsEntry.shown("\(section).\(name)"))"
          + (event.map { " for \($0)" } ?? "") + "; \(hint)"))
  }
}
