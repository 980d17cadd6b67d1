// SPDX-License-Identifier: Apache-2.0

import YAMLReader

extension SettingsReader {
  /// The homes in the order of the file; one called `home` when none is named.
  mutating func homes(default baseTopic: String) -> [Settings.Home] {
    let only = [Settings.Home(name: "home", baseTopic: baseTopic)]
    guard let (document, node) = mappings["homes"], !node.isNull else { return only }
    guard case .mapping(let mapping) = node.content else {
      report(
        "homes", at: document.place(of: node),
        "expected a mapping from a home's name to its keys, found \(node.kind)")
      return only
    }
    var homes: [Settings.Home] = []
    for (name, key, value) in named(mapping, of: "homes", in: document) {
      let isNamed = isFit(home: name, at: document.place(of: key))
      // Read under a bad name too, so that all errors are reported at once.
      let found = topic(ofHome: name, key, value, in: document)
      guard isNamed, let (topic, place) = found else { continue }
      if let other = homes.first(where: { BaseTopic.overlap($0.baseTopic, topic) }) {
        report(
          "homes.\(name).base_topic", at: place,
          "\(SettingsEntry.shown(topic)) equals the base topic of the home `\(other.name)`, or one lies in the other"
        )
        continue
      }
      homes.append(Settings.Home(name: name, baseTopic: topic))
    }
    if !homes.isEmpty { checkSpareTopic(baseTopic, beside: homes) }
    return homes.isEmpty ? only : homes
  }

  /// Beside `homes`, `mqtt.base_topic` is heard by nobody. Where it lies on what a home listens to,
  /// whoever publishes below it would be taken for a router of that home.
  private mutating func checkSpareTopic(_ baseTopic: String, beside homes: [Settings.Home]) {
    guard sources[.mqttBaseTopic] != nil else { return }
    if let other = homes.first(where: { BaseTopic.isHeard(baseTopic, on: $0.baseTopic) }) {
      report(
        .mqttBaseTopic, at: place(of: .mqttBaseTopic),
        "\(SettingsEntry.shown(baseTopic)) lies where routers speak to the home `\(other.name)` "
          + "(\(SettingsEntry.shown(other.baseTopic + "/in/#")))")
    } else if baseTopic != Settings.MQTT().baseTopic,
      !homes.contains(where: { $0.baseTopic == baseTopic })
    {
      warn(
        .mqttBaseTopic, at: place(of: .mqttBaseTopic),
        "has no effect while `homes` names base topics of its own")
    }
  }

  private mutating func isFit(home: String, at place: SettingsProblem.Place) -> Bool {
    let isFit =
      (1...32).contains(home.utf8.count)
      && home.utf8.allSatisfy { byte in
        ASCII.isNameByte(byte) && byte != UInt8(ascii: ".")
          && !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      }
    if !isFit {
      report(
        "homes", at: place,
        "expected a home's name of 1 to 32 small letters, digits, `-` or `_`, found \(SettingsEntry.shown(home))"
      )
    }
    return isFit
  }

  private mutating func topic(
    ofHome home: String, _ key: YAMLNode, _ value: YAMLNode, in document: YAMLDocument
  ) -> (String, SettingsProblem.Place)? {
    let path = "homes.\(home)"
    guard case .mapping(let mapping) = value.content else {
      report(
        path, at: document.place(of: value.isNull ? key : value),
        "expected the key `base_topic`, found \(value.kind)")
      return nil
    }
    var found: (String, SettingsProblem.Place)?
    var isGiven = false
    for (name, key, value) in named(mapping, of: path, in: document) {
      guard name == "base_topic" else {
        problems.append(
          SettingsProblem(
            place: document.place(of: key), key: "\(path).\(name)",
            message:
              "unknown key \(SettingsEntry.shown("\(path).\(name)")); did you mean `base_topic`?"))
        continue
      }
      isGiven = true
      let place = document.place(of: value)
      if let text = value.text, BaseTopic.isFit(text) {
        found = (text, place)
      } else {
        report(
          "\(path).base_topic", at: place,
          "expected \(SettingsKey.mqttBaseTopic.expectation), "
            + "found \(value.text.map { SettingsEntry.shown($0) } ?? value.kind)")
      }
    }
    if !isGiven {
      report(
        "\(path).base_topic", at: document.place(of: key),
        "is missing; every home needs a base topic of its own")
    }
    return found
  }
}

/// The topic that everything of one home lies below.
enum BaseTopic {
  /// Levels of text, no wildcard (MQTT 5.0, 4.7.1), no `$` as system topics have it (4.7.2), and
  /// no `%`, which the access list of a broker would replace by a user's name.
  static func isFit(_ topic: String) -> Bool {
    guard (1...128).contains(topic.utf8.count) else { return false }
    let levels = topic.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
    return levels.allSatisfy { level in
      !level.isEmpty
        && level.allSatisfy { scalar in
          !ASCII.isControl(scalar) && !["+", "#", "$", "%"].contains(scalar)
        }
    }
  }

  /// Whether a message below one could be taken for one below the other.
  static func overlap(_ left: String, _ right: String) -> Bool {
    isWithin(left, right) || isWithin(right, left)
  }

  /// Whether the topic is among those that the daemon listens to for a home on `base`: `<base>/in/#`,
  /// which means `<base>/in` as well (MQTT 5.0, 4.7.1.2).
  static func isHeard(_ topic: String, on base: String) -> Bool {
    isWithin(topic, base + "/in")
  }

  /// Whether the first is the second or lies below it. Byte by byte, as a broker compares: a
  /// level that begins with a combining accent swallows the `/` before it for Swift's characters.
  private static func isWithin(_ topic: String, _ other: String) -> Bool {
    let topic = topic.utf8
    let other = other.utf8
    return topic.starts(with: other)
      && (topic.count == other.count || topic.dropFirst(other.count).first == UInt8(ascii: "/"))
  }
}
