import ThreadkeeperSupport

/// Gathers what the variables and the file say, turns it into settings, and notes every problem
/// on the way. It goes on after each, so that a person sees all of them at once.
struct SettingsReader {
  let environment: [String: String]
  /// Of the configuration file; the working directory when there is none.
  let directory: String
  let workingDirectory: String
  /// Whether a key whose secret this user may not read counts as not given.
  var skipsRefusedSecrets = false
  /// Whether every user of the machine may read the configuration file.
  var isFileReadableByOthers = false
  /// Whether this user may not read one of the files.
  var isRefused = false

  /// What was given for a setting, fit or not.
  struct Given {
    let place: SettingsProblem.Place
    /// Nil for what could not be read, which is reported.
    var entry: SettingsEntry?
    /// A list or a mapping.
    var node: SettingsNode?
  }

  /// By the name of the setting.
  var given: [String: Given] = [:]
  var problems: [SettingsProblem] = []

  /// The whole, as far as it can be made; without errors it is sound.
  mutating func settings(stateDirectory: String) -> Settings {
    var settings = Settings(stateDirectory: stateDirectory)
    for setting in Setting.all { setting.read(&self, &settings) }
    applyRules(to: &settings)
    return settings
  }

  /// Notes an error. The key's full name, where there is one, goes before the message.
  mutating func report(
    _ name: String?, at place: SettingsProblem.Place, _ message: String, _ severity: SettingsProblem.Severity = .error
  ) {
    let message = name.map { "\($0): \(message)" } ?? message
    problems.append(SettingsProblem(place: place, severity: severity, key: name, message: message))
  }

  func isGiven(_ name: String) -> Bool { given[name] != nil }
}

// MARK: Variables

extension SettingsReader {
  static let variablePrefix = "THREADKEEPER_"
  /// Variables that are read before any setting is.
  private static let ownVariables = ["THREADKEEPER_CONFIG", "THREADKEEPER_STATE_DIRECTORY", SystemPlaces.rootVariable]

  /// Variables override the file, so they are read before it. An empty one counts as not set.
  ///
  /// - Parameter others: names with our prefix that somebody else reads.
  mutating func readVariables(others: Set<String> = []) {
    let given = environment.filter { $0.key.hasPrefix(Self.variablePrefix) && !$0.value.isEmpty }
    let settings = Dictionary(uniqueKeysWithValues: Setting.all.map { ($0.variable, $0) })
    for (variable, value) in given {
      let direct = variable.hasSuffix("_FILE") ? String(variable.dropLast(5)) : variable
      if let setting = settings[variable] {
        take(value, isFile: false, from: variable, as: setting)
      } else if let setting = settings[direct] {
        if given[direct] != nil {
          report(setting.name, at: .variable(variable), "\(direct) is set too; set one of the two")
        } else {
          take(value, isFile: true, from: variable, as: setting)
        }
      } else if !Self.ownVariables.contains(variable), !others.contains(variable), !Self.isForeign(variable, value) {
        let known = settings.keys + Self.ownVariables
        let names = known.map { String($0.dropFirst(Self.variablePrefix.count)) }.sorted()
        let word = String(variable.dropFirst(Self.variablePrefix.count))
        let hint = NearestName.nearest(to: word, among: names).map { "; did you mean `\(Self.variablePrefix)\($0)`?" }
        report(nil, at: .variable(variable), "unknown variable\(hint ?? "")")
      }
    }
  }

  /// Whether a variable is of programs that use the keychain or Thread credentials, or of Kubernetes. That gives every
  /// container variables for each service of the cluster, and one of them may be called `threadkeeper`:
  /// `THREADKEEPER_PORT=tcp://…`, `THREADKEEPER_SERVICE_HOST=…`.
  private static func isForeign(_ variable: String, _ value: String) -> Bool {
    let prefixes = ["KEYCHAIN_", "NETWORK_", "SERVICE_", "PORT_"].map { variablePrefix + $0 }
    return prefixes.contains { variable.hasPrefix($0) } || variable == "THREADKEEPER_SOCKET"
      || variable == "THREADKEEPER_PORT" && value.contains("://")
  }

  /// - Parameter isFile: whether the value is the path of a file with the value.
  private mutating func take(_ value: String, isFile: Bool, from variable: String, as setting: Setting) {
    let (name, place) = (setting.name, SettingsProblem.Place.variable(variable))
    let isSecret = setting.form == .secret
    var entry: SettingsEntry?
    if !isFile {
      entry = SettingsEntry(
        text: value, kind: .untyped, place: place, isHidden: isSecret, directory: workingDirectory,
        home: environment["HOME"])
    } else if let path = FilePath.absolute(value, in: workingDirectory, home: environment["HOME"]) {
      entry = self.entry(inFile: path, of: name, at: place, isSecret: isSecret)
    } else {
      report(name, at: place, "expected the path of a file, found one with a `~` that leads nowhere")
    }
    given[name] = Given(place: place, entry: entry)
    guard setting.form == .structure, let entry else { return }
    do throws(SettingsProblem) {
      let node = try SettingsNode(parsing: entry.text, of: place)
      given[name]?.node = node?.isNull == false ? node : nil
    } catch { report(name, at: error.place, error.message) }
  }
}

// MARK: The file

extension SettingsReader {
  /// A mapping by name, each name once.
  typealias Pairs = [(name: String, key: SettingsNode, value: SettingsNode)]

  /// Notes where each key has its value; reports what does not belong there.
  mutating func read(_ text: String, of file: String) {
    do throws(SettingsProblem) {
      if let root = try SettingsNode(parsing: text, of: .file(file)), !root.isNull {
        read(pairs(root, of: "", "sections such as `mqtt:`") ?? [], of: "")
      }
    } catch { problems.append(error) }
  }

  private mutating func read(_ pairs: Pairs, of section: String) {
    for (name, key, value) in pairs {
      let path = Self.path(name, in: section)
      if name.isEmpty || name.contains(".") {
        noteUnknown(name, in: section, at: key.place, known: Setting.names(in: section))
      } else if let setting = Setting.named[path] {
        if !value.isNull, !isGiven(path) { take(value, as: setting) }
      } else if Setting.names(in: path).isEmpty {
        noteUnknown(name, in: section, at: key.place, known: Setting.names(in: section))
      } else if !value.isNull {
        read(self.pairs(value, of: path, "a mapping of keys") ?? [], of: path)
      }
    }
  }

  private static func path(_ name: String, in section: String) -> String {
    section.isEmpty ? name : "\(section).\(name)"
  }

  private mutating func take(_ value: SettingsNode, as setting: Setting) {
    let (name, place) = (setting.name, value.place)
    var given = Given(place: place)
    if setting.form == .structure {
      given.node = value
    } else if case .scalar(let scalar) = value.yaml.content {
      switch scalar.ownTag {
      case nil:
        if setting.form == .secret, isFileReadableByOthers {
          report(
            name, at: place,
            "stands in a file that every user of this machine may read; "
              + "use `!secret NAME`, or take the right away with chmod o-r", .warning)
        }
        given.entry = SettingsEntry(
          text: scalar.text, kind: scalar.isPlain ? .plain : .quoted, place: place, isHidden: setting.form == .secret,
          directory: directory, home: environment["HOME"])
      case "!secret": given.entry = entry(named: scalar.text, "!secret", in: directory, of: name, at: place)
      case "!credential":
        let directory = environment["CREDENTIALS_DIRECTORY", default: ""]
        given.entry = entry(named: scalar.text, "!credential", in: directory, of: name, at: place)
      case let tag?:
        return report(name, at: place, "unknown tag \(tag.shown); the known ones are `!secret` and `!credential`")
      }
    } else {
      return report(name, at: place, "expected \(setting.expected), found \(value.kind)")
    }
    self.given[name] = given
  }

  private mutating func entry(
    named file: String, _ tag: String, in directory: String, of name: String, at place: SettingsProblem.Place
  ) -> SettingsEntry? {
    guard !["", "."].contains(file), !["/", "..", "\0"].contains(where: file.contains) else {
      report(name, at: place, "`\(tag)` expects the plain name of a file, without `/` and `..`")
      return nil
    }
    guard !directory.isEmpty else {
      report(
        name, at: place,
        "`\(tag)` needs $CREDENTIALS_DIRECTORY, which systemd sets for a unit with " + "LoadCredential=")
      return nil
    }
    return entry(inFile: "\(directory)/\(file)", of: name, at: place, isSecret: true)
  }

  /// The pairs of a mapping; what is none, has no name or repeats one is reported.
  mutating func pairs(_ node: SettingsNode, of section: String, _ expected: String) -> Pairs? {
    let owner = section.isEmpty ? nil : section
    guard case .mapping(let mapping) = node.yaml.content else {
      report(owner, at: node.place, "expected \(expected), found \(node.kind)")
      return nil
    }
    var pairs: Pairs = []
    var indexes: [String: Int] = [:]
    for (key, value) in mapping.map({ (node.inner($0.key), node.inner($0.value)) }) {
      guard case .scalar(let scalar) = key.yaml.content else {
        report(owner, at: key.place, "expected the name of a key, found \(key.kind)")
        continue
      }
      if let index = indexes.updateValue(pairs.count, forKey: scalar.text) {
        indexes[scalar.text] = index
        noteDuplicate(Self.path(scalar.text, in: section), key, value, beside: pairs[index])
      } else {
        pairs.append((scalar.text, key, value))
      }
    }
    return pairs
  }

  /// Says, too, how a section that is there twice becomes one, as where an example was put to the end of the file.
  private mutating func noteDuplicate(
    _ path: String, _ key: SettingsNode, _ value: SettingsNode, beside first: Pairs.Element
  ) {
    var message = "duplicate key \(path.shown)"
    if case .file = first.key.place {
      var remedy = "keep one of them"
      if first.value.isEmpty {
        remedy = "remove that line"
      } else if case .mapping = first.value.yaml.content, case .mapping = value.yaml.content {
        let lines = Self.lines(of: value.yaml, in: first.value.yaml, below: "", depth: 2)
        remedy =
          lines.isEmpty ? "put the lines of this one below that" : "change it there: " + lines.joined(separator: ", ")
      }
      message += ", first given on line \(first.key.yaml.position.line): \(remedy)"
    }
    problems.append(SettingsProblem(place: key.place, key: path, message: message))
  }

  /// Where a mapping has the keys of another one; of eight keys at each depth.
  private static func lines(of other: YAMLNode, in first: YAMLNode, below path: String, depth: Int) -> [String] {
    guard depth > 0, case .mapping(let others) = other.content, case .mapping(let pairs) = first.content else {
      return []
    }
    return others.prefix(8).flatMap { key, value -> [String] in
      guard let name = key.name, let pair = pairs.first(where: { $0.key.name == name }) else { return [] }
      let inner = lines(of: value, in: pair.value, below: path + name + ".", depth: depth - 1)
      return inner.isEmpty ? ["\((path + name).shown) on line \(pair.key.position.line)"] : inner
    }
  }

  /// - Parameter known: names that are known in the section.
  mutating func noteUnknown(_ name: String, in section: String, at place: SettingsProblem.Place, known: [String]) {
    let path = Self.path(name, in: section)
    let elsewhere = Setting.all.first { $0.name.hasSuffix(".\(name)") }?.name
    let meant = NearestName.nearest(to: name, among: known) ?? elsewhere
    let hint =
      Self.nested(name, in: section).map { "write it as \($0)" } ?? meant.map { "did you mean `\($0)`?" }
      ?? "known here: " + known.map { "`\($0)`" }.joined(separator: ", ")
    problems.append(SettingsProblem(place: place, key: path, message: "unknown key \(path.shown); \(hint)"))
  }
}

extension SettingsReader {
  /// How a key is written whose name has dots, `host` below `mqtt`; nil where there is none of that name.
  private static func nested(_ name: String, in section: String) -> String? {
    let path = path(name, in: section)
    guard name.contains("."), Setting.named[path] != nil || !Setting.names(in: path).isEmpty else { return nil }
    return name.split(separator: ".").reversed().map { "`\($0)`" }.joined(separator: " below ")
  }
}

/// A part of a YAML text, with the place where it stands.
struct SettingsNode {
  let yaml: YAMLNode
  /// The file or variable that the text comes from.
  private let source: SettingsProblem.Place

  /// - Returns: nil for an empty text.
  init?(parsing text: String, of source: SettingsProblem.Place) throws(SettingsProblem) {
    do throws(YAMLFailure) {
      guard let root = try YAMLNode.read(text) else { return nil }
      (yaml, self.source) = (root, source)
    } catch { throw SettingsProblem(place: source.at(error.position), key: nil, message: error.message) }
  }

  private init(_ yaml: YAMLNode, _ source: SettingsProblem.Place) { (self.yaml, self.source) = (yaml, source) }

  func inner(_ node: YAMLNode) -> SettingsNode { SettingsNode(node, source) }

  var place: SettingsProblem.Place { source.at(yaml.position) }

  /// What a person would call it. Never its content, which may be a misplaced secret.
  var kind: String {
    switch yaml.content {
    case .mapping: "a mapping"
    case .sequence: "a list"
    case .scalar(let scalar): scalar.isNull ? "nothing" : scalar.ownTag != nil ? "a tag" : "text"
    }
  }

  /// The text of a scalar that is neither nothing nor tagged as something else.
  var text: String? { kind == "text" ? yaml.name : nil }
  /// The words after "found" for text that may be shown.
  var found: String { text?.shown ?? kind }
  /// A key with nothing after it, or one of YAML's words for that.
  var isNull: Bool { yaml.isNull }
  /// That, or without elements.
  var isEmpty: Bool {
    switch yaml.content {
    case .mapping(let pairs): pairs.isEmpty
    case .sequence(let elements): elements.isEmpty
    case .scalar: isNull
    }
  }
}

extension YAMLNode {
  /// The text of a scalar, whatever it means.
  var name: String? { if case .scalar(let scalar) = content { scalar.text } else { nil } }
  var isNull: Bool { if case .scalar(let scalar) = content { scalar.isNull } else { false } }
}
