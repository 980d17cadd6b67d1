import ArgumentParser
import Settings

/// `threadkeeper doctor`
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "doctor", "Check everything that threadkeeper needs, and say what to do about it.",
    """
    Looks at settings, daemon, broker, access list, store and system, within half a minute, and changes \
    nothing. It works beside a running daemon and without one. At the broker it publishes probes on topics \
    on which nobody acts, reads them back, and tries what clients without a login can do.

    With --login it also tries what another login can read and write that is not its own. Take that of a \
    border router.

    Exits 0 without a problem, otherwise with the number of the first one: 78 settings or access list, 69 \
    broker or daemon not reached, 77 login refused, a key that does not open the store or a file open to \
    others, 74 store or disk, 71 system.

    Examples:
      threadkeeper doctor
      threadkeeper doctor --login hub
      threadkeeper doctor --json | jq '.findings[] | select(.result == "problem")'
    """)

  @Option(help: ArgumentHelp("Another login of the broker, to see that it reads nothing of others.", valueName: "user"))
  var login: String?

  @Option(
    help: ArgumentHelp(
      "Its password: the first line of a file that others cannot read. Without it, it is asked for.", valueName: "file")
  ) var passwordFile: String?

  @OptionGroup var options: CommandOptions

  func validate() throws {
    guard passwordFile == nil || login != nil else { throw ValidationError("--password-file needs --login.") }
  }

  func run() async throws {
    let loaded = options.settings.read()
    var other: (name: String, password: String?)?
    if let login {
      let name = try Username.ofClient(login)
      if let mqtt = loaded.settings?.mqtt {
        if let own = mqtt.username { try Doctor.check(name, isNot: own) }
        try warnOfPlaintext(mqtt, name)
      }
      other = (name, try await password(of: name))
    }
    let line = WaitingLine()
    let doctor = Doctor(options: options.settings, loaded: loaded, other: other) { line.show($0) }
    defer { line.end() }
    let findings = try await doctor.findings()
    line.end()
    try DoctorReport(findings).end(options.output)
  }

  /// Before the password is asked for.
  private func warnOfPlaintext(_ mqtt: Settings.MQTT, _ user: String) throws {
    guard let host = BrokerCheck.hostInPlaintext(mqtt) else { return }
    try StandardStream.error.write(
      "warning: the password of \(user.printable) goes to \(host.printable) unencrypted: `mqtt.tls` is not set\n")
  }

  private func password(of user: String) async throws -> String {
    if let passwordFile { return try Password.fromFile(passwordFile) }
    guard TerminalPrompt.isPossible else {
      throw CommandFailure(
        .usage, "there is no terminal to ask for the password of \(user)",
        remedy: "name a file with it: --password-file")
    }
    return try await TerminalPrompt.answer(to: "Password of \(user.printable) at the broker: ", isHidden: true)
  }
}

/// What `doctor` answers.
package struct DoctorReport: Encodable {
  let version = threadkeeperVersion
  /// Whether there is no problem.
  let healthy: Bool
  let counts: [Finding.Result: Int]
  /// By part.
  let findings: [Finding]

  package init(_ findings: [Finding]) {
    self.findings = Finding.Part.allCases.flatMap { part in findings.filter { $0.part == part } }
    counts = Dictionary(
      uniqueKeysWithValues: Finding.Result.allCases.map { result in (result, findings.count { $0.result == result }) })
    healthy = counts[.problem] == 0
  }

  /// That of the first problem; nil without one.
  var status: ExitStatus? { findings.first { $0.result == .problem }?.status }

  /// Prints it, and ends the command.
  package func end(_ output: OutputOptions) throws {
    try output.show(self, text: text())
    if let status { throw ExitCode(status.rawValue) }
  }

  /// Grouped by part; the problems again at the end, where a person looks first.
  ///
  /// - Parameter onlyProblems: whether all else is only counted.
  func text(style: TerminalStyle = TerminalStyle(of: .output), onlyProblems: Bool = false) -> String {
    var text = ""
    for part in Finding.Part.allCases where !onlyProblems {
      let own = findings.filter { $0.part == part && $0.result != .problem }
      guard !own.isEmpty else { continue }
      text += style.bold(part.title) + "\n"
      for finding in own { text += finding.text(style: style) }
    }
    let problems = findings.filter { $0.result == .problem }
    if !problems.isEmpty {
      text += style.bold(problems.count == 1 ? "Problem" : "Problems") + "\n"
      for finding in problems { text += finding.text(style: style) }
    }
    return text + (onlyProblems ? "" : "\n") + summary + "\n"
  }

  private var summary: String {
    func count(_ result: Finding.Result, _ one: String, _ many: String) -> String? {
      counts[result].flatMap { $0 == 0 ? nil : "\($0) \($0 == 1 ? one : many)" }
    }
    let parts = [
      count(.problem, "problem", "problems"), count(.warning, "warning", "warnings"), count(.note, "note", "notes"),
      count(.notChecked, "not checked", "not checked"),
    ].compactMap(\.self)
    let well = counts[.ok] ?? 0
    guard !parts.isEmpty else { return well == 1 ? "The only check is well." : "All \(well) checks are well." }
    return "\(healthy ? "No problem; " : "")\(parts.listed); \(well) well."
  }
}

extension Finding.Part {
  fileprivate var title: String {
    switch self {
    case .settings: "Settings"
    case .database: "Database"
    case .shards: "Shards and nodes"
    case .daemon: "Daemon"
    case .broker: "Broker"
    case .access: "Access at the broker"
    case .store: "Store"
    case .system: "System"
    }
  }
}

extension Finding {
  private static let indent = 15

  fileprivate func text(style: TerminalStyle) -> String {
    let label = label
    let shown =
      switch result {
      case .ok: style.green(label)
      case .problem: style.red(label)
      case .warning: style.bold(label)
      case .note, .notChecked: label
      }
    let gap = String(repeating: " ", count: Self.indent - 2 - label.count)
    var lines = "  \(shown)\(gap)\(text.printable)\n"
    if let remedy {
      lines += String(repeating: " ", count: Self.indent) + "\(style.bold("help:")) \(remedy.printable)\n"
    }
    return lines
  }

  private var label: String { result == .notChecked ? "not checked" : result.rawValue }
}

/// One thing that `doctor` has looked at, and what a person can do about it.
package struct Finding: Encodable, Equatable {
  package enum Result: String, Encodable, CaseIterable, CodingKeyRepresentable {
    case ok, note, warning, problem
    /// Nothing is known, and the text says why.
    case notChecked = "not_checked"
  }

  /// In the order in which they are shown.
  package enum Part: String, Encodable, CaseIterable {
    case settings, database, shards, daemon, broker, access, store, system
  }

  let part: Part
  /// The name of the check: stable, scripts read it.
  let check: String
  package let result: Result
  let text: String
  package var remedy: String?
  /// How the command ends, where this is the first problem.
  let status: ExitStatus

  private enum CodingKeys: CodingKey { case part, check, result, text, remedy }
}

/// A check by its name, which makes its findings.
package struct Check {
  let part: Finding.Part
  let name: String

  package init(_ part: Finding.Part, _ name: String) {
    self.part = part
    self.name = name
  }

  package func ok(_ text: String) -> Finding { make(.ok, text, nil) }

  func note(_ text: String, _ remedy: String? = nil) -> Finding { make(.note, text, remedy) }

  package func warning(_ text: String, _ remedy: String) -> Finding { make(.warning, text, remedy) }

  package func problem(_ text: String, _ remedy: String, _ status: ExitStatus = .configuration) -> Finding {
    make(.problem, text, remedy, status)
  }

  func notChecked(_ text: String, _ remedy: String? = nil) -> Finding { make(.notChecked, text, remedy) }

  /// What a failure says, and where it says nothing else what helps.
  package func problem(_ failure: CommandFailure, otherwise remedy: String = "try again", _ status: ExitStatus? = nil)
    -> Finding
  { problem(Self.sentence(failure.message), Self.sentence(failure.remedy ?? remedy), status ?? failure.status) }

  func notChecked(_ failure: CommandFailure) -> Finding {
    notChecked(Self.sentence(failure.message), failure.remedy.map(Self.sentence))
  }

  private func make(_ result: Finding.Result, _ text: String, _ remedy: String?, _ status: ExitStatus = .configuration)
    -> Finding
  {
    Finding(
      part: part, check: name, result: result, text: Self.ended(text), remedy: remedy.map(Self.ended), status: status)
  }

  /// Messages of other parts begin in lower case and have no full stop.
  static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  private static func ended(_ text: String) -> String {
    text.last.map { ".?!".contains($0) } == true ? text : text + "."
  }
}
