// SPDX-License-Identifier: Apache-2.0

import BrokerAccess
import ThreadkeeperDaemon

/// What a person has to add to the broker, in steps with lines to copy.
struct BrokerAdvice: Sendable {
  struct Step: Sendable, Encodable, Equatable {
    let what: String
    /// Commands, or lines of a file.
    let lines: [String]
  }

  private(set) var steps: [Step] = []
  /// The access list, or what goes to the end of the one that is there; nil where nothing is to be added.
  private(set) var list: String?

  /// Which logins the list names, and how this machine's `threadkeeper acl` makes it.
  struct Wanted: Sendable {
    var list: AccessList
    /// Options that name the settings, such as `--config FILE`.
    var options: [String]
    var isRoot: Bool
    /// Whether the broker refuses threadkeeper's login.
    var isLoginRefused: Bool
    /// Whether threadkeeper goes to the broker without a login, which no list can allow it.
    var isAnonymous = false
    /// Logins of border routers that have lines of their own in the list that is there.
    var routers: [String] = []
  }

  /// - Parameter house: nil for a broker whose files are not here.
  /// - Throws: `AccessListError` for names that no list can have.
  init(_ wanted: Wanted, _ house: HouseBroker?, _ verdict: BrokerVerdict) throws(AccessListError) {
    var wanted = wanted
    let files = house?.isComplete == true ? house : nil
    wanted.list.isAddition = verdict.hasList
    wanted.list.keepsAnonymous = verdict.admitsAnonymous == true && !wanted.list.isAddition
    let text = try wanted.list.text()
    guard !wanted.isAnonymous || verdict.state == .complete else {
      login(wanted)
      return
    }
    if let files {
      logins(wanted, files)
      guard verdict.state == .incomplete else { return }
      if let path = files.options.accessList {
        append(wanted, files, verdict, to: path, text)
      } else {
        make(wanted, files)
        list = text
      }
    } else {
      elsewhere(wanted, verdict)
      if verdict.state != .complete { list = text }
    }
  }

  private mutating func login(_ wanted: Wanted) {
    let words = (wanted.isRoot ? ["sudo"] : []) + ["threadkeeper", "setup", "--login"]
    steps.append(
      Step(
        what:
          "Give threadkeeper a login: run setup again. An access list goes by logins, and would lock it out without one",
        lines: [
          (words + wanted.list.daemons.prefix(1).map(\.quoted) + wanted.options)
            .joined(separator: " ")
        ]))
  }

  // MARK: A broker whose files are here

  private mutating func logins(_ wanted: Wanted, _ house: HouseBroker) {
    let file = house.options.passwordFile
    let isNew = file == nil
    let list = wanted.list
    var missing: [String] = []
    for login in list.daemons + list.monitors + (isNew ? list.kept : [])
    where house.logins?.contains(login) != true && !missing.contains(login) {
      missing.append(login)
    }
    guard !missing.isEmpty else { return }
    let password =
      missing.contains { list.daemons.contains($0) }
      ? ". threadkeeper's gets the same password that you gave here" : ""
    let path = file ?? "\(house.directory)/threadkeeper.passwd"
    steps.append(
      Step(
        what: (isNew
          ? "Make a password file with its logins. From then on the broker refuses names that are not in it"
          : "Add the logins that the broker does not know, to the password file that it has")
          + password,
        lines: missing.enumerated().map { number, login in
          "sudo mosquitto_passwd \(isNew && number == 0 ? "-c " : "")\(path.quoted) \(login.quoted)"
        } + (isNew ? [] : ["sudo systemctl reload mosquitto"])))
  }

  private mutating func make(_ wanted: Wanted, _ house: HouseBroker) {
    let path = "\(house.directory)/threadkeeper.acl"
    steps.append(
      Step(
        what: "Write the access list",
        lines: [
          command(wanted) + " | sudo tee \(path.quoted) >/dev/null",
          "sudo chown mosquitto: \(path.quoted)",
        ]))
    configure(house, ["acl_file \(path)"] + limits(house))
  }

  /// - Parameter lines: for Mosquitto's configuration, beside that of a new password file.
  private mutating func configure(_ house: HouseBroker, _ lines: [String]) {
    let file = house.options.passwordFile == nil ? "\(house.directory)/threadkeeper.passwd" : nil
    let lines = (file.map { ["password_file \($0)"] } ?? []) + lines
    guard !lines.isEmpty else { return }
    steps.append(Step(what: "Add these lines to \(house.addition)", lines: lines))
    steps.append(
      Step(
        what: "Restart the broker, and see that it runs",
        lines: (file.map { ["sudo chown mosquitto: \($0.quoted)"] } ?? [])
          + ["sudo systemctl restart mosquitto", "systemctl status mosquitto"]))
  }

  private mutating func append(
    _ wanted: Wanted, _ house: HouseBroker, _ verdict: BrokerVerdict, to path: String,
    _ text: String
  ) {
    if verdict.isOpenToAnonymous {
      steps.append(
        Step(
          what: "Put these lines at the top of \(path), before the first `user`",
          lines: wanted.list.baseTopics.map { "topic deny \($0)/#" }))
    }
    if verdict.isOpenToAll {
      steps.append(
        Step(
          what: "In \(path), let no line `pattern` reach the topics of threadkeeper",
          lines: wanted.list.baseTopics.map { "# \($0)/#" }))
    }
    for router in wanted.routers {
      guard let lines = verdict.wideLines[router], !lines.isEmpty else { continue }
      steps.append(
        Step(
          what:
            "In \(path), remove these lines of the border router's login \(router.printable): threadkeeper's lines give it its own topics",
          lines: lines))
    }
    let reload = "sudo systemctl reload mosquitto"
    if verdict.lacksLines || wanted.list.kept.contains(where: verdict.intruders.contains) {
      list = text
      steps.append(
        Step(
          what: "Add threadkeeper's lines to the end of the access list that is there",
          lines: [command(wanted) + " | sudo tee -a \(path.quoted) >/dev/null", reload]))
    } else {
      steps.append(Step(what: "Have the broker read it again", lines: [reload]))
    }
    configure(house, limits(house))
  }

  /// docs/guides/broker.md has the reasons.
  private func limits(_ house: HouseBroker) -> [String] {
    (house.options.isPersistent ? [] : ["persistence true"])
      + (house.options.queueLimit == 0 || house.options.queueLimit > 1000
        ? [] : ["max_queued_messages 1000000", "max_queued_bytes 67108864"])
      + (house.options.limitsMessages ? [] : ["message_size_limit 1048576"])
  }

  // MARK: Another one

  private mutating func elsewhere(_ wanted: Wanted, _ verdict: BrokerVerdict) {
    if wanted.isLoginRefused, let login = wanted.list.daemons.first {
      steps.append(
        Step(
          what:
            "Where the broker is, add the login to the password file that it has (`password_file`), with the same password that you gave here",
          lines: [
            "sudo mosquitto_passwd PASSWORD_FILE \(login.quoted)",
            "sudo systemctl reload mosquitto",
          ]))
    }
    guard verdict.state != .complete else { return }
    if verdict.hasList {
      if verdict.isOpenToAnonymous {
        steps.append(
          Step(
            what: "Put these lines at the top of the broker's access list, before the first `user`",
            lines: wanted.list.baseTopics.map { "topic deny \($0)/#" }))
      }
      steps.append(
        Step(
          what:
            "The broker has an access list. Make the lines, with --keep for each login that has a wide line such as"
            + " `topic readwrite #`, and add them to its end (`acl_file`), unless they are there."
            + " docs/guides/broker.md goes through it",
          lines: [command(wanted) + " >threadkeeper.lines"]))
      mosquitto(Self.queueLines, "sudo systemctl reload mosquitto")
      return
    }
    steps.append(
      Step(
        what:
          "Make the access list, with --keep for each other login that uses the broker, and copy it there (`acl_file`)."
          + " docs/guides/broker.md goes through it, also for a list that is there already and for Home Assistant's"
          + " add-on, which takes it as /share/mosquitto/accesscontrollist",
        lines: [command(wanted) + " >threadkeeper.acl"]))
    mosquitto(
      ["acl_file /etc/mosquitto/threadkeeper.acl"] + Self.queueLines,
      "sudo systemctl restart mosquitto")
  }

  private static let queueLines = [
    "persistence true", "max_queued_messages 1000000", "max_queued_bytes 67108864",
    "message_size_limit 1048576",
  ]

  private mutating func mosquitto(_ lines: [String], _ command: String) {
    steps.append(
      Step(
        what: "If it is a Mosquitto, add these lines to its configuration unless they are there",
        lines: lines))
    steps.append(Step(what: "Have it read them", lines: [command]))
  }

  /// The `threadkeeper acl` that prints `list`.
  private func command(_ wanted: Wanted) -> String {
    let list = wanted.list
    var words = (wanted.isRoot ? ["sudo"] : []) + ["threadkeeper", "acl"] + wanted.options
    if list.isAddition { words.append("--append") }
    for login in list.kept { words += ["--keep", login.quoted] }
    if list.keepsAnonymous { words.append("--keep-anonymous") }
    for login in list.monitors { words += ["--monitor", login.quoted] }
    return words.joined(separator: " ")
  }
}
