// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import BrokerAccess
import IngestRules
import YAMLReader

/// The setting `ingest`: a mapping from a rule's name to its keys.
extension SettingsReader {
  private static let ruleKeys = ["topic", "event", "user", "home", "when", "fields"]

  /// - Parameters:
  ///   - homes: whose topics a rule must not read.
  ///   - isPrivate: whether the broker is the daemon's own, where no other publisher can log in.
  mutating func ingest(homes: [Settings.Home], isPrivate: Bool) -> IngestRules {
    guard let (document, node) = mappings["ingest"], !node.isNull else { return IngestRules() }
    guard case .mapping(let mapping) = node.content else {
      report(
        "ingest", at: document.place(of: node),
        "expected a mapping from a rule's name to its keys, found \(node.kind)")
      return IngestRules()
    }
    var rules: [IngestRule] = []
    for (name, key, value) in named(mapping, of: "ingest", in: document) {
      let place = document.place(of: key)
      let isNamed = (1...32).contains(name.utf8.count) && name.utf8.allSatisfy(ASCII.isNameByte)
      if !isNamed {
        report(
          "ingest", at: place,
          "expected a rule's name of 1 to 32 letters, digits, `-`, `_` or `.`, found \(SettingsEntry.shown(name))"
        )
      }
      // Read under a bad name too, so that all errors are reported at once.
      let rule = rule(name, key, value, homes: homes, in: document)
      guard isNamed, let rule else { continue }
      for other in rules {
        guard let field = rule.sharedOrder(with: other)?.rawValue else { continue }
        report(
          "ingest.\(name).fields.\(field)", at: place,
          "the rule `\(other.name)` takes it from the same message for the same router, and one event only "
            + "can have it; remove `\(field)` from one of the two")
      }
      rules.append(rule)
    }
    if mapping.count > IngestLimits.rules {
      report(
        "ingest", at: document.place(of: node),
        "expected at most \(IngestLimits.rules) rules, found \(mapping.count)")
    }
    if isPrivate, !rules.isEmpty {
      warn(
        "ingest", at: document.place(of: node),
        "has no effect with `mqtt.host: embedded`: nobody may publish such topics on the private broker"
      )
    }
    return IngestRules(rules)
  }

  /// - Returns: nil when something of it is wrong, which is reported.
  private mutating func rule(
    _ name: String, _ key: YAMLNode, _ value: YAMLNode, homes: [Settings.Home],
    in document: YAMLDocument
  ) -> IngestRule? {
    let path = "ingest.\(name)"
    guard case .mapping(let mapping) = value.content else {
      report(
        path, at: document.place(of: value.isNull ? key : value),
        "expected the keys `topic`, `event`, `user` and `fields`, found \(value.kind)")
      return nil
    }
    let before = problems.count
    var values: [String: YAMLNode] = [:]
    for (name, key, value) in named(mapping, of: path, in: document) {
      if Self.ruleKeys.contains(name) {
        values[name] = value.isNull ? nil : value
      } else {
        noteUnknown(name, among: Self.ruleKeys, in: path, at: document.place(of: key))
      }
    }
    let scope = IngestScope(path: path, place: document.place(of: key), document: document)
    let filter = filter(values["topic"], homes: homes, scope)
    let event = event(values["event"], scope)
    let user = ingestUser(values["user"], filter, scope)
    let home = ingestHome(values["home"], homes: homes, scope)
    let conditions = conditions(values["when"], scope)
    let fields = ingestFields(values["fields"], of: event, filter, scope)
    guard problems.count == before, let filter, let event, let user, let home else { return nil }
    let rule = IngestRule(
      name: name, filter: filter, event: event, user: user, home: home, fields: fields,
      conditions: conditions)
    for field in rule.missingFields {
      let other = event == .ssid && field == .borderAgentID ? ", or `access_point`" : ""
      report(
        "\(path).fields", at: scope.place,
        "`\(event.rawValue)` needs the field `\(field.rawValue)`\(other)")
    }
    return problems.count == before ? rule : nil
  }

  /// The topics, which are none of threadkeeper's own.
  private mutating func filter(
    _ node: YAMLNode?, homes: [Settings.Home], _ scope: IngestScope
  ) -> TopicFilter? {
    guard
      let (text, place) = ingestText(node, "topic", "a topic such as `otbr/{router}/status`", scope)
    else { return nil }
    do throws(IngestFlaw) {
      let filter = try TopicFilter(text)
      if let home = homes.first(where: { filter.reaches(base: $0.baseTopic) }) {
        report(
          "\(scope.path).topic", at: place,
          "\(SettingsEntry.shown(text)) reaches threadkeeper's own topics of the home `\(home.name)` "
            + "(\(SettingsEntry.shown(home.baseTopic + "/#")))")
        return nil
      }
      return filter
    } catch {
      report(
        "\(scope.path).topic", at: place, "\(error.message), found \(SettingsEntry.shown(text))")
      return nil
    }
  }

  private mutating func event(_ node: YAMLNode?, _ scope: IngestScope) -> InboundEventKind? {
    let names = InboundEventKind.allCases.map(\.rawValue)
    let expected = "one of " + names.map { "`\($0)`" }.joined(separator: ", ")
    guard let (text, place) = ingestText(node, "event", expected, scope) else { return nil }
    guard let event = InboundEventKind(rawValue: text) else {
      let hint = NearestName.nearest(to: text, among: names).map { "; did you mean `\($0)`?" } ?? ""
      report(
        "\(scope.path).event", at: place,
        "expected \(expected), found \(SettingsEntry.shown(text))\(hint)")
      return nil
    }
    return event
  }

  /// Never from the payload: whoever may publish on the topic could speak for anybody.
  private mutating func ingestUser(
    _ node: YAMLNode?, _ filter: TopicFilter?, _ scope: IngestScope
  ) -> TextTemplate? {
    let expected = "the login in whose name the rule speaks, as in `in/<user>/<event>`"
    guard let (text, place) = ingestText(node, "user", expected, scope) else { return nil }
    let key = "\(scope.path).user"
    do throws(IngestFlaw) {
      let user = try TextTemplate(text)
      if let constant = user.constant {
        do throws(AccessListError) {
          try AccessList.check(userName: constant)
        } catch {
          report(key, at: place, error.message)
          return nil
        }
      } else if text.utf8.contains(where: { "/+#".utf8.contains($0) }) {
        throw IngestFlaw("a user's name has none of `/`, `+` and `#`")
      }
      guard !user.usesPayload else {
        throw IngestFlaw("the user cannot come from the payload; name one, or a part of the topic")
      }
      try check(user.parts, of: filter)
      return user
    } catch {
      report(key, at: place, "\(error.message), found \(SettingsEntry.shown(text))")
      return nil
    }
  }

  private mutating func ingestHome(
    _ node: YAMLNode?, homes: [Settings.Home], _ scope: IngestScope
  ) -> String? {
    let names = homes.map(\.name)
    if node == nil, homes.count == 1 { return names[0] }
    let expected = "one of the homes " + names.map { "`\($0)`" }.joined(separator: ", ")
    guard let (text, place) = ingestText(node, "home", expected, scope) else { return nil }
    guard names.contains(text) else {
      report(
        "\(scope.path).home", at: place, "expected \(expected), found \(SettingsEntry.shown(text))")
      return nil
    }
    return text
  }

  /// - Throws: `IngestFlaw` for a part that the topic does not have.
  func check(_ parts: [String], of filter: TopicFilter?) throws(IngestFlaw) {
    guard let filter, let part = parts.first(where: { !filter.parts.contains($0) }) else { return }
    let known = filter.parts.map { "`{\($0)}`" }.joined(separator: ", ")
    throw IngestFlaw(
      "`{\(part)}` is no part of the topic" + (known.isEmpty ? "" : ", which has \(known)"))
  }
}

/// Where a rule stands, for problems.
struct IngestScope {
  let path: String
  let place: SettingsProblem.Place
  let document: YAMLDocument
}
