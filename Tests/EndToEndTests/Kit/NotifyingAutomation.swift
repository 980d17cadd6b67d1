import Foundation
import Settings

/// What Home Assistant makes of an automation that turns messages into notifications, as far as the
/// example needs it. Whatever else stands in the file is an error, so that the example does not outgrow
/// its test.
struct NotifyingAutomation {
  struct Notification: Equatable {
    let title: String
    let message: String
  }

  struct Unsupported: Error, CustomStringConvertible { let description: String }

  /// The topic filter that it waits for.
  let topic: String
  /// What a person sees, by `notification_id`.
  private(set) var notifications: [String: Notification] = [:]
  private let actions: YAMLNode

  /// - Parameter text: a list with one automation.
  init(_ text: String) throws {
    guard let automation = try YAMLNode.read(text)?.list.first, let trigger = automation["triggers"]?.list.first,
      trigger["trigger"]?.text == "mqtt", let topic = trigger["topic"]?.text, let actions = automation["actions"]
    else { throw Unsupported(description: "no list with an automation that waits for a topic") }
    self.topic = topic
    self.actions = actions
  }

  /// Runs the actions on a message, retained or not.
  mutating func receive(_ topic: String, _ payload: String) throws {
    try run(actions, Trigger(topic: topic, payload: JSON(payload)))
  }

  private mutating func run(_ actions: YAMLNode, _ trigger: Trigger) throws {
    for action in actions.list {
      if let condition = action["if"]?.text {
        let branch = try trigger.holds(condition) ? action["then"] : action["else"]
        if let branch { try run(branch, trigger) }
      } else {
        try call(action, trigger)
      }
    }
  }

  /// Only what every installation has.
  private mutating func call(_ action: YAMLNode, _ trigger: Trigger) throws {
    func data(_ name: String) throws -> String {
      guard let template = action["data"]?[name]?.text else {
        throw Unsupported(description: "an action without \(name)")
      }
      return try trigger.render(template)
    }
    switch action["action"]?.text {
    case "persistent_notification.create":
      notifications[try data("notification_id")] = Notification(title: try data("title"), message: try data("message"))
    case "persistent_notification.dismiss": notifications[try data("notification_id")] = nil
    case let other: throw Unsupported(description: "the action \(other ?? "without a name")")
    }
  }
}

/// The variable `trigger` of an automation, and the templates about it.
private struct Trigger {
  let topic: String
  /// Undefined when the payload is no JSON.
  let payload: JSON?

  typealias Unsupported = NotifyingAutomation.Unsupported

  /// Replaces each `{{ … }}`.
  func render(_ template: String) throws -> String {
    var result = ""
    var rest = template[...]
    while let start = rest.range(of: "{{"), let end = rest.range(of: "}}") {
      result += rest[..<start.lowerBound]
      result += try value(of: rest[start.upperBound..<end.lowerBound])
      rest = rest[end.upperBound...]
    }
    return result + rest
  }

  /// - Parameter template: one `{{ … }}` of comparisons joined by `and`.
  func holds(_ template: String) throws -> Bool {
    guard template.hasPrefix("{{"), template.hasSuffix("}}") else {
      throw Unsupported(description: "the condition \(template)")
    }
    for term in template.dropFirst(2).dropLast(2).components(separatedBy: " and ") {
      let sides = term.components(separatedBy: "==")
      if term.trimmingCharacters(in: .whitespaces) == "trigger.payload_json is defined" {
        if payload == nil { return false }
      } else if sides.count == 2 {
        let expected = sides[1].trimmingCharacters(in: CharacterSet(charactersIn: " '"))
        if try value(of: sides[0][...]) != expected { return false }
      } else {
        throw Unsupported(description: "the condition \(term)")
      }
    }
    return true
  }

  /// An expression with its filters.
  private func value(of expression: Substring) throws -> String {
    let parts = expression.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    let prefix = "trigger.payload_json."
    if parts == ["trigger.topic.split('/')", "last"] { return topic.split(separator: "/").last.map(String.init) ?? "" }
    guard let name = parts.first, name.hasPrefix(prefix),
      let text = payload?[String(name.dropFirst(prefix.count))]?.text
    else { throw Unsupported(description: "\(expression) has no text in \(topic)") }
    if parts.dropFirst().allSatisfy({ $0.hasPrefix("replace('") && $0.hasSuffix("')") }) {
      return try parts.dropFirst().reduce(text) { text, filter in
        let names = filter.dropFirst("replace('".count).dropLast(2).components(separatedBy: "', '")
        guard names.count == 2 else { throw Unsupported(description: filter) }
        return text.replacingOccurrences(of: names[0], with: names[1])
      }
    }
    guard parts.count == 3, parts[1] == "as_timestamp", parts[2].hasPrefix("timestamp_custom("),
      (try? Date(text, strategy: .iso8601)) != nil
    else { throw Unsupported(description: "\(expression) of \(text)") }
    return text
  }
}

extension YAMLNode {
  var text: String? { if case .scalar(let scalar) = content { scalar.text } else { nil } }

  var list: [YAMLNode] { if case .sequence(let nodes) = content { nodes } else { [] } }

  subscript(_ name: String) -> YAMLNode? {
    guard case .mapping(let pairs) = content else { return nil }
    return pairs.first { $0.key.text == name }?.value
  }
}
