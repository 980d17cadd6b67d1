import Broker
import ThreadkeeperSupport

/// The text given for a key, where it was given, and how much of it a problem may show.
struct SettingsEntry {
  enum Kind {
    /// A YAML scalar without quotes: may be a number.
    case plain
    /// A YAML scalar in quotes: text and nothing else.
    case quoted
    /// From a variable or a file, where nothing has a type.
    case untyped
  }

  let text: String
  let kind: Kind
  let place: SettingsProblem.Place
  /// True when the text came from a secret's file, or belongs to a secret key.
  let isHidden: Bool
  /// What relative paths are relative to.
  let directory: String
  /// What `~/` stands for.
  let home: String?

  /// The words after "found".
  var found: String {
    if isHidden { return "a value that is not shown" }
    return kind == .quoted ? "the text \(text.shown)" : text.shown
  }

  /// The text, if it is not a truth value.
  func string() throws(UnfitValue) -> String {
    guard kind != .plain || Bool(text.lowercased()) == nil else {
      throw UnfitValue(found: "a truth value; if it is meant as text, put it in quotes")
    }
    return text
  }
}

extension String {
  /// Text for a message: on one line, not too long.
  var shown: String { shown(upTo: 60) }
  /// A path is of use only whole. 4096 is the longest that Linux takes.
  var shownPath: String { shown(upTo: 4_096) }

  private func shown(upTo limit: Int) -> String {
    let shown = unicodeScalars.prefix(limit).map { $0.escaped(asASCII: $0.properties.generalCategory == .format) }
    return "`\(shown.joined())\(unicodeScalars.count > limit ? "…" : "")`"
  }
}

extension SettingsReader {
  /// The value that a file holds. It is not shown in any problem, whatever the key is: people
  /// name the wrong file.
  mutating func entry(inFile path: String, of name: String, at place: SettingsProblem.Place, isSecret: Bool)
    -> SettingsEntry?
  {
    do throws(FileFailure) {
      let file = try TextFile(path)
      if isSecret, file.isReadableByOthers {
        report(name, at: place, "\(path.shownPath) \(TextFile.openToOthers)", .warning)
      }
      guard !file.value.isEmpty else { throw FileFailure(reason: "is empty") }
      let isVariable = if case .variable = place { true } else { false }
      return SettingsEntry(
        text: file.value, kind: .untyped, place: place, isHidden: true,
        directory: isVariable ? workingDirectory : directory, home: environment["HOME"])
    } catch {
      if error.isRefusal { isRefused = true }
      if !error.isRefusal || !skipsRefusedSecrets { report(name, at: place, "\(path.shownPath) \(error.reason)") }
      return nil
    }
  }

  /// Reports a file that is not there.
  mutating func checkFile(_ path: String, of name: String, isPrivate: Bool) {
    guard let entry = given[name]?.entry else { return }
    // A path that came out of a secret's file may be the secret itself.
    let file = entry.isHidden ? "the file of that name" : path.shownPath
    do throws(FileFailure) {
      if try TextFile(path, isRead: false).isReadableByOthers, isPrivate {
        report(name, at: entry.place, "\(file) \(TextFile.openToOthers)", .warning)
      }
    } catch {
      // The service may have rights that whoever checks the settings has not.
      report(name, at: entry.place, "\(file) \(error.reason)", error.isRefusal ? .warning : .error)
    }
  }
}

// MARK: Lists and mappings

extension SettingsReader {
  /// The elements of a list that are text and fit; the others are reported.
  mutating func texts(
    _ node: SettingsNode, of name: String, _ list: String, _ element: String, where isFit: (String) -> Bool
  ) -> [(text: String, place: SettingsProblem.Place)] {
    guard case .sequence(let elements) = node.yaml.content else {
      report(name, at: node.place, "expected \(list), found \(node.kind)")
      return []
    }
    return elements.map(node.inner).compactMap { node in
      if let text = node.text, isFit(text) { return (text, node.place) }
      report(name, at: node.place, "expected \(element), found \(node.found)")
      return nil
    }
  }

  /// Logins of the broker. Each can be one level of a topic: `in/<user>/…` says who speaks.
  ///
  /// - Parameter taken: users who are in a team already.
  mutating func users(_ node: SettingsNode, of name: String, taken: [String: String] = [:]) -> [String] {
    let users = texts(
      node, of: name, "a list of user names",
      "a user name of 1 to 128 characters without `/`, `+`, `#` and control characters"
    ) { user in
      (1...128).contains(user.unicodeScalars.count)
        && !user.unicodeScalars.contains { ASCII.isControl($0) || ["/", "+", "#"].contains($0) }
    }
    var found: Set<String> = []
    for (user, place) in users {
      if let team = taken[user] {
        report(name, at: place, "the user `\(user)` is already in the team `\(team)`")
      } else if !found.insert(user).inserted {
        report(name, at: place, "the user `\(user)` is listed twice")
      }
    }
    return users.map(\.text)
  }

  /// Users of this machine; one that it does not know is reported.
  mutating func localUsers(_ node: SettingsNode, of name: String) -> [UInt32] {
    let expected = "the name or number of a user of this machine"
    return texts(node, of: name, "a list of users of this machine", expected) { !$0.isEmpty }.compactMap {
      user, place in
      if let number = SystemAccount.user(user) { return number }
      // It may come with a broker that is not installed yet.
      report(
        name, at: place,
        "this machine has no user \(user.shown). Give the number where the name is known elsewhere only", .warning)
      return nil
    }
  }

  /// Team → users. A user speaks for one team only.
  mutating func teams(_ pairs: Pairs) -> [String: [String]] {
    var teams: [String: [String]] = [:]
    var taken: [String: String] = [:]
    for (team, key, value) in pairs where isFit(team: team, at: key.place, in: "teams") {
      let users = users(value, of: "teams.\(team)", taken: taken)
      for user in users { taken[user] = team }
      teams[team] = users
    }
    return teams
  }

  /// - Parameter name: the key that has it, for problems.
  private mutating func isFit(team: String, at place: SettingsProblem.Place, in name: String) -> Bool {
    if !(1...64).contains(team.utf8.count) || !team.utf8.allSatisfy(ASCII.isNameByte) {
      report(name, at: place, "expected a team name of 1 to 64 letters, digits, `-`, `_` or `.`, found \(team.shown)")
    } else if team.hasPrefix(BrokerTeams.reservedPrefix) {
      report(name, at: place, "names that begin with `\(BrokerTeams.reservedPrefix)` are kept for threadkeeper itself")
    } else {
      return true
    }
    return false
  }

  /// User → team. Two names may be the same user.
  mutating func clientUsers(_ pairs: Pairs) -> [UInt32: String] {
    var teams: [UInt32: String] = [:]
    for (user, key, value) in pairs {
      let name = "client_users.\(user)"
      guard let team = value.text else {
        report(name, at: value.place, "expected the name of a team, found \(value.kind)")
        continue
      }
      guard isFit(team: team, at: value.place, in: name) else { continue }
      if let number = SystemAccount.user(user) {
        if let other = teams[number], other != team {
          report(name, at: key.place, "the user \(number) is already in the team `\(other)`, by another name")
        }
        teams[number] = teams[number] ?? team
      } else if user.utf8.allSatisfy(ASCII.isDigit) {
        report("client_users", at: key.place, "expected the name or number of a user, found \(user.shown)")
      } else {
        // A user may come with a program that is not installed yet: the daemon of the home goes on.
        report(
          name, at: key.place,
          "this machine has no user \(user.shown): nobody is let in by it. Give the number where "
            + "the name is known elsewhere only", .warning)
      }
    }
    return teams
  }

  /// In the order of the file.
  mutating func homes(_ pairs: Pairs) -> [BaseTopics.Home] {
    var homes: [BaseTopics.Home] = []
    var taken = TakenTopics()
    for (name, key, value) in pairs {
      let isNamed =
        (1...32).contains(name.utf8.count) && name.utf8.allSatisfy(ASCII.isNameByte) && !name.contains(".")
        && name == name.lowercased()
      if !isNamed {
        report(
          "homes", at: key.place,
          "expected a home's name of 1 to 32 small letters, digits, `-` or `_`, " + "found \(name.shown)")
      }
      // Read under a bad name too, so that all errors are reported at once.
      let found = topic(of: "homes.\(name)", key, value)
      guard isNamed, let (topic, place) = found else { continue }
      if let other = taken.take(topic, for: name) {
        report(
          "homes.\(name).base_topic", at: place,
          "\(topic.shown) equals the base topic of the home `\(other)`, " + "or one lies in the other")
      } else {
        homes.append(.init(name: name, base: topic))
      }
    }
    return homes
  }

  private mutating func topic(of home: String, _ key: SettingsNode, _ value: SettingsNode) -> (
    String, SettingsProblem.Place
  )? {
    if value.isNull {
      report(home, at: key.place, "expected the key `base_topic`, found nothing")
      return nil
    }
    guard let pairs = pairs(value, of: home, "the key `base_topic`") else { return nil }
    for (name, key, _) in pairs where name != "base_topic" {
      noteUnknown(name, in: home, at: key.place, known: ["base_topic"])
    }
    let topic = pairs.first { $0.name == "base_topic" }?.value
    if let topic, let text = topic.text, BaseTopic.isFit(text) { return (text, topic.place) }
    report(
      "\(home).base_topic", at: topic?.place ?? key.place,
      topic.map { "expected \(BaseTopic.expected), found \($0.found)" }
        ?? "is missing; every home needs a base topic of its own")
    return nil
  }
}
