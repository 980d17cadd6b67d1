// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

/// What `setup` answers.
struct SetupReport: Sendable, Encodable {
  struct Broker: Sendable, Encodable {
    /// Whether the broker's list allows what it has to and no more; unknown without its files.
    enum Access: String, Sendable, Encodable { case complete, incomplete, unknown }

    /// `broker.local:1883`, or `embedded`.
    let address: String
    let username: String?
    /// Why it is not reached, or refuses the login.
    let problem: String?
    let access: Access
    /// Why the access list is not as it has to be, or what is not known of it.
    let reasons: [String]
    let steps: [BrokerAdvice.Step]
    /// What the steps add; nil where no lines are to be added.
    let accessList: String?
  }

  let settings: String
  let changes: [SetupDraft.Change]
  /// Whether the file was written: not when it says all that already, and not for `--dry-run`.
  let written: Bool
  let dryRun: Bool
  let store: String
  let storeMade: Bool
  /// The key of a store that was made.
  let keyFile: String
  let passwordStored: Bool
  let broker: Broker
  let next: [String]
  /// What is found with these settings; nil where nothing was written, or the broker is not to be asked.
  let doctor: DoctorReport?

  var text: String {
    var lines: [String] = []
    if changes.isEmpty {
      lines.append("\(settings): nothing to change.")
    } else {
      lines.append("\(settings): \(dryRun ? "would be changed" : "written").")
      lines += changes.map { "  \($0.line)" }
    }
    if passwordStored { lines.append("The password is kept in the encrypted store.") }
    if storeMade {
      lines.append("The store is in \(store).")
      lines.append("Back up its key, without which nobody can read it: \(keyFile)")
    }
    lines += [""] + brokerLines + ["", "Next:"] + next.map { "  \($0)" }
    let text = lines.joined(separator: "\n") + "\n"
    guard let doctor else { return text }
    return text + "\nthreadkeeper doctor, now:\n"
      + doctor.text(
        style: TerminalStyle(of: .output), width: StandardStream.output.columns, onlyProblems: true)
  }

  private var brokerLines: [String] {
    var lines: [String] = []
    if let problem = broker.problem { lines += ["warning: \(problem.printable)", ""] }
    guard broker.address != "embedded" else {
      return ["The private broker has its logins and its access list: nothing to add."]
    }
    guard !broker.steps.isEmpty || broker.access != .complete else {
      return lines + ["The broker \(broker.address) allows what is needed: nothing to add."]
    }
    switch broker.access {
    case .complete: lines.append("The access list is as it has to be.")
    case .incomplete: lines.append("What the broker \(broker.address) allows has to change:")
    case .unknown: lines.append("Not all is known of what the broker \(broker.address) allows:")
    }
    lines += broker.reasons.map { "  - \($0.printable)" }
    for (number, step) in broker.steps.enumerated() {
      lines += ["", "\(number + 1). \(step.what):"] + step.lines.map { "     \($0)" }
    }
    if let list = broker.accessList {
      let rows = list.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      lines += ["", "These are the lines of the access list:"] + rows.map { "     \($0)" }
    }
    return lines
  }
}
