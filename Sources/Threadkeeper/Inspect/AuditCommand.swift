import ArgumentParser

/// `threadkeeper audit`
struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "audit", "Show who changed what in the store.",
    """
    Each record is linked to the one before it, and the store knows the \
    last one. --verify goes through all of them, and ends with 65 when one is missing, altered or \
    not in its place.

    With --follow it goes on until Ctrl-C, also over a restart of the daemon. --json prints a line of JSON for each record then.

    Examples:
      threadkeeper audit --last 20
      threadkeeper audit --follow --json
      threadkeeper audit --verify
    """)

  /// To go through all records takes long on a slow machine.
  private static let longest = Duration.seconds(600)

  @Option(help: ArgumentHelp("How many records to begin with.", valueName: "number")) var last: Int64 = 50

  @Flag(help: "Go on showing what comes.") var follow = false

  @Flag(help: "Check all of them.") var verify = false

  @OptionGroup var options: CommandOptions

  func validate() throws {
    guard last > 0 || (last == 0 && follow) else {
      throw ValidationError("--last is 1 or more; with --follow it can be 0.")
    }
    guard !(verify && follow) else { throw ValidationError("--verify and --follow do not go together.") }
  }

  func run() async throws {
    let daemon = try options.daemon()
    try FleetHome.noteShard()
    if follow { return try await follow(daemon) }
    if verify { return try show(try await daemon.perform(VerifyAudit(), within: Self.longest)) }
    var records = AuditRecords()
    var entries: [AuditEntry] = []
    _ = try await daemon.follow(FollowAudit(last: last, untilNow: true)) { entries += records.take($0) }
    try options.output.show(
      entries, text: entries.isEmpty ? "Nothing has been changed yet.\n" : entries.map(\.text).joined())
  }

  private func follow(_ daemon: DaemonClient) async throws {
    var records = AuditRecords()
    try await daemon.keepFollowing {
      records.beginAgain()
      return FollowAudit(after: records.last, last: last)
    } each: {
      for entry in records.take($0) {
        try StandardStream.output.write(options.output.json ? JSONText.line(entry) : entry.text)
      }
    }
  }

  private func show(_ report: VerifyAudit.Reply) throws {
    try options.output.show(
      report,
      text: report.problem.map { "\($0.printable).\n" } ?? "All \(report.records) records are as they were written.\n")
    guard report.problem == nil else { throw ExitCode(ExitStatus.badInput.rawValue) }
  }
}

/// Puts the parts of records together, in which long ones come.
private struct AuditRecords {
  /// The number of the last record that is complete.
  private(set) var last: Int64?
  private var part: AuditEntry?

  mutating func take(_ reply: FollowAudit.Reply) -> [AuditEntry] {
    var whole: [AuditEntry] = []
    for entry in reply.records {
      var entry = entry
      if var before = part {
        before.append(entry)
        entry = before
      }
      part = entry.continues == true ? entry : nil
      if part == nil { whole.append(entry) }
    }
    last = reply.last
    return whole
  }

  /// After a break: the record that has come in part comes as a whole.
  mutating func beginAgain() { part = nil }
}
