import Broker
import FoundationEssentials
import Glibc
import Settings
import ThreadkeeperSupport

/// What a person has to add to the broker, in steps with lines to copy.
struct BrokerAdvice {
  struct Step: Encodable, Equatable {
    let what: String
    /// Commands, or lines of a file.
    let lines: [String]

    init(_ what: String, _ lines: [String]) {
      self.what = what
      self.lines = lines
    }
  }

  /// What is wanted.
  var list: AccessList
  /// The broker's files, where they are here and say all.
  var files: HouseBroker?
  /// Of these files.
  var gaps: [AccessGap] = []
  /// Logins of agents on this machine, with the files of their passwords.
  var agents: [(login: String, file: String)] = []
  /// Options that name the settings, such as `--config FILE`.
  var options: [String] = []
  var isRoot = false
  /// Whether the broker refuses threadkeeper's login.
  var isLoginRefused = false
  /// Whether threadkeeper goes to the broker without a login, which no list can allow it.
  var isAnonymous = false
  /// Whether `changes` were made: what is left is a person's.
  var isMade = false
  /// Whether the password file is one of them, so that nobody else has a login in it.
  var isPasswordFileNew = false

  /// - Returns: with the access list, or what goes to the end of the one that is there; nil where nothing is to be added.
  /// - Throws: `AccessListError` for names that no list can have.
  func steps() throws(AccessListError) -> (steps: [Step], list: String?) {
    let text = try list.text()
    let isDone = gaps.isEmpty && files != nil
    guard !isAnonymous else { return (isDone ? [] : [login], nil) }
    var steps = logins
    guard !isDone else { return (steps, nil) }
    if list.isAddition { steps += removals }
    let needsLines = needsLines && !isMade
    if needsLines { steps.append(lines(in: path)) }
    let configuration = isMade ? [] : configuration
    if isMade, steps.isEmpty { return ([], nil) }
    if configuration.isEmpty {
      steps.append(Step("Restart the broker", ["sudo systemctl restart mosquitto"]))
    } else {
      steps += [
        Step(
          files.map { "Add these lines to \($0.addition)" }
            ?? "If it is a Mosquitto, add these lines to its configuration unless they are there", configuration),
        Step(
          "Restart the broker, and see that it runs",
          (newPasswordFile.map { ["sudo chown mosquitto: \($0.quoted)"] } ?? []) + [
            "sudo systemctl restart mosquitto", "systemctl status mosquitto",
          ]),
      ]
    }
    return (steps, needsLines ? text : nil)
  }

  // MARK: What setup does itself

  /// The files as they are to be: the login, the list, and what names it. In a list of others, lines of logins change
  /// that `removals` has; patterns for everybody stay for a person.
  ///
  /// - Parameter passwordLine: of the password file, for a login.
  func changes(passwordLine: (String) throws -> String) throws -> [BrokerFile] {
    guard let files, !isAnonymous else { return [] }
    func file(
      _ path: String, _ access: WholeFile.Access = .broker, isSecret: Bool = false, _ change: (String) -> String
    ) throws -> BrokerFile {
      let before = try WholeFile.readIfThere(path)
      let ended = before.map { $0.isEmpty || $0.hasSuffix("\n") ? $0 : $0 + "\n" } ?? ""
      return BrokerFile(path: path, before: before, after: change(ended), access: access, isSecret: isSecret)
    }
    var changes: [BrokerFile] = []
    let new = try (list.daemons + agents.map(\.login)).filter { files.logins?.contains($0) != true }.map {
      try passwordLine($0) + "\n"
    }
    if let passwords = files.options.passwordFile ?? newPasswordFile, !new.isEmpty {
      changes.append(try file(passwords, isSecret: true) { $0 + new.joined() })
    }
    guard !gaps.isEmpty else { return changes }
    let text = try list.text()
    if needsLines || !edits.isEmpty {
      let own = needsLines ? OwnLines.marked(text) : ""
      changes.append(try file(path) { list.isAddition ? edited(OwnLines.without($0)) + own : text })
    }
    if !configuration.isEmpty {
      changes.append(try file(files.addition, .open) { $0 + configuration.map { "\($0)\n" }.joined() })
    }
    return changes.filter { $0.before != $0.after }
  }

  private var path: String { files?.options.accessList ?? "\(files?.directory ?? "/etc/mosquitto")/threadkeeper.acl" }

  private var needsLines: Bool {
    !list.isAddition || gaps.contains { !$0.isExcess || list.kept.contains($0.who.login ?? "") }
  }

  private var configuration: [String] {
    (newPasswordFile.map { ["password_file \($0)"] } ?? [])
      + (files?.options.accessList != nil ? [] : ["acl_file \(path)"]) + (files?.options ?? MosquittoOptions()).missing
  }

  private func command(_ words: [String]) -> String {
    ((isRoot ? ["sudo"] : []) + ["threadkeeper"] + words).joined(separator: " ")
  }

  // MARK: Logins

  private var login: Step {
    Step(
      "Give threadkeeper a login: run setup again. An access list goes by logins, and would lock it out without one",
      [command(["setup", "--login"] + list.daemons.prefix(1).map(\.quoted) + options)])
  }

  private var newPasswordFile: String? {
    guard let files, files.options.passwordFile == nil else { return nil }
    return "\(files.directory)/threadkeeper.passwd"
  }

  private var logins: [Step] {
    let new = newPasswordFile
    let wanted =
      list.daemons + agents.map(\.login) + list.monitors + list.approvers
      + (new == nil && !isPasswordFileNew ? [] : list.kept)
    let missing =
      files.map { files in wanted.filter { files.logins?.contains($0) != true }.uniqued }
      ?? (isLoginRefused ? list.daemons : []) + agents.filter { access($0.file, F_OK) != 0 }.map(\.login)
    guard !missing.isEmpty else { return [] }
    let same =
      (missing.contains { list.daemons.contains($0) }
        ? ". threadkeeper's gets the same password that you gave here" : "")
      + agents.filter { missing.contains($0.login) }.map { ". The password of \($0.login) is in \($0.file)" }.joined()
    guard let new else {
      return [
        Step(
          "Add the logins that the broker does not know, to the password file that it has (`password_file`)" + same,
          missing.map { HouseBroker.makingLogin($0, in: files?.options.passwordFile) })
      ]
    }
    return [
      Step(
        "Make a password file with its logins. From then on the broker refuses names that are not in it" + same,
        missing.enumerated().map { "sudo mosquitto_passwd \($0 == 0 ? "-c " : "")\(new.quoted) \($1.quoted)" })
    ]
  }

  // MARK: The list

  /// What is to be changed in a list that is there, where lines at its end do not help.
  private struct Edit {
    enum Action {
      /// Its lines go.
      case remove
      /// It may read as before, and write where it publishes alone.
      case narrow
      /// Lines at the top.
      case add
      /// Only a person knows what they are for.
      case byHand
    }

    let who: AccessGap.Who
    let action: Action
    let what: String
    let lines: [String]
  }

  private var removals: [Step] { edits.map { Step($0.what, $0.lines) } }

  private var edits: [Edit] {
    guard let files, let path = files.options.accessList else { return [] }
    let rules = AccessRules(files.accessList ?? "")
    let seen = gaps.filter(\.isExcess).map(\.who).uniqued
    return denials(path, rules)
      + seen.filter { !list.kept.contains($0.login ?? "") || isWriter($0) }.map { who in
        let lines = gaps.filter { $0.isExcess && $0.who == who }.flatMap {
          list.lines(behind: $0, in: rules, byPatterns: who == .everybody)
        }.uniqued
        let (action, what, shown): (Edit.Action, String, [String]) =
          switch who {
          case .withoutLogin:
            (
              .add, "Put these lines at the top of \(path), before the first `user`",
              list.baseTopics.map { "topic deny \($0)/#" }
            )
          case .everybody: (.byHand, "In \(path), let these lines `pattern` not reach threadkeeper's topics", lines)
          case .login(let login) where list.kept.contains(login):
            (
              .narrow,
              "In \(path), put `topic read #` in place of these lines of the login \(login.printable), and a line"
                + " `topic write` for each place where it publishes, such as zigbee2mqtt/#", lines
            )
          case .login(let login):
            (
              .remove,
              "In \(path), remove these lines of the border router's login \(login.printable): threadkeeper's lines"
                + " give it its own topics", lines
            )
          }
        return Edit(who: who, action: action, what: what, lines: shown)
      }
  }

  /// Lines that win over all that is added.
  private func denials(_ path: String, _ rules: AccessRules) -> [Edit] {
    let missing = gaps.filter { !$0.isExcess }
    return missing.compactMap(\.who.login).uniqued.compactMap { login in
      let lines = missing.filter { $0.who == .login(login) }.flatMap { rules.denials(of: login, $0.topic) }.uniqued
      guard !lines.isEmpty else { return nil }
      return Edit(
        who: .login(login), action: .remove,
        what: "In \(path), remove these lines of the login \(login.printable): they deny what it needs, and win over"
          + " what is added", lines: lines)
    }
  }

  /// A list of others with what `removals` says of logins, and of clients without one.
  private func edited(_ text: String) -> String {
    let edits = edits.filter { $0.action != .byHand && ($0.action != .narrow || !list.keptWrites.isEmpty) }
    var who = AccessGap.Who.withoutLogin
    var narrowed: Set<String> = []
    var lines = edits.filter { $0.action == .add }.flatMap(\.lines)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      // As Mosquitto reads it, which leaves out blanks at the ends.
      let words = line.split(maxSplits: 1) { " \t\r".contains($0) }
      var rest = (words.last ?? "").drop { " \t\r".contains($0) }
      while let last = rest.last, " \t\r".contains(last) { rest.removeLast() }
      if words.first == "user" { who = .login(String(rest)) }
      let rule = "\(words.first ?? "") \(rest)"
      guard words.count == 2,
        let edit = edits.first(where: { $0.who == who && $0.action != .add && $0.lines.contains(rule) })
      else {
        lines.append(String(line))
        continue
      }
      if edit.action == .narrow, narrowed.insert(who.login ?? "").inserted {
        lines += ["topic read #"] + list.keptWrites.map { "topic write \($0)" }
      }
    }
    return lines.joined(separator: "\n")
  }

  /// Kept logins that see threadkeeper's topics, of which it has to be known where they publish.
  var unknownWriters: [String] {
    guard list.keptWrites.isEmpty else { return [] }
    return list.kept.filter {
      (list.monitors + list.approvers).contains($0) && (!list.isAddition || isWriter(.login($0)))
    }
  }

  /// Whether a kept login that sees threadkeeper's states could write them.
  private func isWriter(_ who: AccessGap.Who) -> Bool {
    guard let login = who.login, (list.monitors + list.approvers).contains(login) else { return false }
    return gaps.contains { $0.who == who && $0.isExcess && $0.isOfStates }
  }

  /// Where kept logins publish that see threadkeeper's topics has to be named.
  private var writing: String {
    let readers = list.kept.filter { (list.monitors + list.approvers).contains($0) }
    guard !readers.isEmpty, !list.isAddition, list.keptWrites.isEmpty else { return "" }
    let names = readers.map(\.printable).listed
    return ". Name with --writes where \(names) publishes, such as zigbee2mqtt/#"
      + "; without it that is \(list.discoveryPrefix.printable)/# alone"
  }

  private func lines(in path: String) -> Step {
    let command = command(
      ["acl"] + options + (list.isAddition ? ["--append"] : []) + list.kept.flatMap { ["--keep", $0.quoted] }
        + (list.keepsAnonymous ? ["--keep-anonymous"] : []) + list.monitors.flatMap { ["--monitor", $0.quoted] }
        + list.approvers.flatMap { ["--approver", $0.quoted] }
        + (list.isAddition ? [] : list.keptWrites).flatMap { ["--writes", $0.quoted] })
    if files == nil {
      return Step(
        "Make the access list, with --keep for each other login that uses the broker, and copy it there (`acl_file`)"
          + "\(writing). docs/guides/broker.md goes through it, also for a list that is there and for Home Assistant's"
          + " add-on, which takes it as /share/mosquitto/accesscontrollist", ["\(command) >threadkeeper.acl"])
    }
    return list.isAddition
      ? Step(
        "Add threadkeeper's lines to the end of the access list that is there",
        ["\(command) | sudo tee -a \(path.quoted) >/dev/null"])
      : Step(
        files?.accessList == nil
          ? "Write the access list\(writing)" : "Replace the access list, which is threadkeeper's own\(writing)",
        ["\(command) | sudo tee \(path.quoted) >/dev/null", "sudo chown mosquitto: \(path.quoted)"])
  }
}

/// A Mosquitto on this machine, as far as its files can be read.
struct HouseBroker {
  let options: MosquittoOptions
  /// Where its files are.
  let directory: String
  /// Where threadkeeper's part of its configuration goes.
  let addition: String
  /// In the password file; nil when there is none, or it cannot be read.
  let logins: [String]?
  /// Nil when there is no access list, or it cannot be read.
  private(set) var accessList: String?
  /// Files of it that are here, and that this user cannot read.
  let unreadable: [String]

  /// - Parameters:
  ///   - host: of the broker; another machine's files are not here, and neither are those of a container's.
  ///   - file: Mosquitto's configuration; nil for Debian's place.
  /// - Returns: nil when nothing is known.
  init?(host: String, port: UInt16, file named: String?) {
    guard named != nil || BrokerCheck.isThisMachine(host) else { return nil }
    let root = ProcessInfo.processInfo.environment[SystemPlaces.rootVariable] ?? ""
    let file = named.map(SetupFlags.absolute) ?? "\(root == "/" ? "" : root)/etc/mosquitto/mosquitto.conf"
    guard let text = WholeFile.look(file) else { return nil }
    var options = MosquittoOptions()
    options.read(text)
    var parts: [String] = []
    for directory in options.includes {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
      for name in names.sorted() where name.hasSuffix(".conf") {
        parts.append("\(directory)/\(name)")
        if let text = WholeFile.look("\(directory)/\(name)") { options.read(text) }
      }
    }
    unreadable = (parts + [options.passwordFile, options.accessList].compactMap { $0 }).filter {
      access($0, R_OK) != 0 && errno == EACCES
    }
    // What cannot be read may name the port.
    guard named != nil || options.listens(on: port) || !unreadable.isEmpty else { return nil }
    self.options = options
    directory = FilePath.directory(of: file)
    addition = options.includes.first.map { "\($0)/threadkeeper.conf" } ?? file
    logins = options.passwordFile.flatMap(WholeFile.look).map(MosquittoOptions.logins(inPasswordFile:))
    accessList = options.accessList.flatMap(WholeFile.look)
  }

  /// Whether the files say all about logins and access.
  var isComplete: Bool {
    unreadable.isEmpty && !options.isPartial && (options.passwordFile == nil || logins != nil)
      && (options.accessList == nil || accessList != nil)
  }

  /// Whether its configuration is read to the end.
  var hasOptions: Bool { !unreadable.contains { $0.hasSuffix(".conf") } }

  /// Whether the list alone decides about access, and is read.
  var isAccessListKnown: Bool { hasOptions && !options.isPartial && (options.accessList == nil || accessList != nil) }

  /// The command that makes a login; nil where the broker has it, or that is not known.
  func makingLogin(_ login: String) -> String? {
    guard isComplete, let logins, !logins.contains(login) else { return nil }
    return Self.makingLogin(login, in: options.passwordFile)
  }

  /// With a restart: Mosquitto 2.0.11 can crash when it reads a password file again.
  ///
  /// - Parameter file: nil where the broker's files are not seen: what its `password_file` names.
  static func makingLogin(_ login: String, in file: String?) -> String {
    "sudo mosquitto_passwd \(file?.quoted ?? "PASSWORD_FILE") \(login.quoted) && sudo systemctl restart mosquitto"
  }

  /// What the access list lacks, and allows too much: without one, everything is allowed.
  ///
  /// - Throws: `AccessListError` for names that no list can have.
  func gaps(_ wanted: AccessList) throws(AccessListError) -> [AccessGap] {
    try wanted.gaps(
      in: accessList.map { AccessRules($0) } ?? .everything, logins: logins ?? [],
      allowsAnonymous: options.allowsAnonymous)
  }

  /// The same without the lines that setup has added to a list of others: they are written again whole.
  var withoutOwnLines: HouseBroker {
    var house = self
    house.accessList = accessList.map(OwnLines.without)
    return house
  }

  /// Whether this user can put files in place of those that are there.
  var isWritable: Bool {
    let files = [addition, options.accessList, options.passwordFile].compactMap { $0 }
    return (files.map(FilePath.directory) + [directory]).allSatisfy { access($0, W_OK) == 0 }
  }
}

/// The lines that setup adds to an access list of others.
private enum OwnLines {
  static let begin = "# Begin of threadkeeper's lines: `threadkeeper setup` writes all up to their end again."
  static let end = "# End of threadkeeper's lines."

  static func marked(_ lines: String) -> String { "\n\(begin)\(lines)\(end)\n" }

  /// A text whose lines have no end stays as it is.
  static func without(_ text: String) -> String {
    guard let start = text.firstRange(of: "\n\(begin)\n"),
      let stop = text[start.upperBound...].firstRange(of: "\(end)\n")
    else { return text }
    return String(text[..<start.lowerBound] + text[stop.upperBound...])
  }
}
