import ArgumentParser
import FoundationEssentials
import Glibc
import KeychainCore
import Logging
import Settings
import ThreadkeeperSupport

/// `threadkeeper store`
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "store", "Look after the encrypted store itself.",
    subcommands: [
      StoreVerifyCommand.self, StoreBackupCommand.self, StoreRestoreCommand.self, StoreForgetDamagedCommand.self,
    ])
}

/// `threadkeeper store verify`
struct StoreVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "verify", "Check that every record and item opens, and that none was added, removed or replaced.",
    """
    A running daemon verifies while it works. Exits 0 when all is well, 65 when something was altered.

    Example:
      threadkeeper store verify
    """)

  @OptionGroup var options: CommandOptions

  /// On a slow machine, of a large store.
  private static let longest = Duration.seconds(600)

  func run() async throws {
    let report = try await options.show { daemon in
      try await daemon.perform(VerifyStore(), within: Self.longest) {
        // Beside others that use the store; it is not locked for that.
        try OpenStore.reading(daemon.settings) { try VerificationOutcome(verifying: $0) }
      }
    } text: {
      $0.text
    }
    if report.locked > 0 {
      try StandardStream.error.write(
        "\(report.locked) items are locked, and their secrets were not opened. Name the passphrase in"
          + " `store.passphrase`, and verify again without the daemon.\n")
    }
    guard report.isWell else { throw ExitCode(ExitStatus.badInput.rawValue) }
  }
}

extension VerificationOutcome {
  /// For a person; lines.
  var text: String {
    guard !isWell else { return "All \(String.contents(records: records, items: items)) are as they were left.\n" }
    var text =
      "\(damagedRecords.count) of \(String.records(records)) and \(damagedRows.count) of"
      + " \(String.items(items)) are damaged; the store is \(condition).\n"
    for damage in damagedRecords { text += damage.text }
    if impossibleMessages > 0 {
      text +=
        "\(impossibleMessages) \(impossibleMessages == 1 ? "message" : "messages") for the broker cannot be of the"
        + " daemon, and are never sent: it deletes them with the next one that it publishes.\n"
    }
    if let auditProblem { text += "The audit: \(auditProblem).\n" }
    return text
  }
}

extension VerificationOutcome.Damage {
  /// What it is of: the credentials of something, where they are all that is damaged.
  var what: String {
    let home = home.map { " of the home \($0.printable)" } ?? ""
    if let borderAgentId { return "the credentials of the router \(borderAgentId)\(home)" }
    if let network {
      if let user {
        let login = user.printable
        return "the credentials of the network \(network) that the login \(login) shares\(home)"
      }
      let name = network == "preferred" ? "the preferred network" : "the former network \(network)"
      return "the credentials of \(name)\(home)"
    }
    return "record \(number)\(home)"
  }

  fileprivate var text: String {
    let option = home.map { " --home \($0.printable.quoted)" } ?? ""
    return "Damaged: \(what). Restore a backup, or give it up with `threadkeeper store forget-damaged\(option)`.\n"
  }
}

extension String {
  static func records(_ count: Int) -> String { count == 1 ? "1 record" : "\(count) records" }
  static func items(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }

  /// What is in a store: "12 records and 3 items".
  static func contents(records: Int, items: Int) -> String { "\(Self.records(records)) and \(Self.items(items))" }
}

/// `threadkeeper store backup`
struct StoreBackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "backup", "Write the store, and what makes the machine besides, into one file.",
    """
    The daemon makes the backup while it works, or the command where none runs; that needs free space for a \
    second copy in the store's directory. Beside the store the file has the settings, the page's token and, with \
    the package, the files of the agents on this machine; run it as root, who can read all of them. It opens with \
    any key slot of the store: its key file, a passphrase, a recovery code. Keep them in another place. What is \
    for this device only opens nowhere else.

    Examples:
      threadkeeper store backup /media/stick/threadkeeper-monday.tkbackup
      threadkeeper store backup --force /var/backups/threadkeeper.tkbackup
    """)

  @Argument(help: "The file to write.", completion: .file()) var file: String

  @Flag(help: "Replace the file, once the new one is whole.") var force = false

  @OptionGroup var options: CommandOptions

  /// For the daemon to write the whole file.
  private static let firstWithin = Duration.seconds(600)

  struct Report: Encodable {
    let file: String
    let storeID: String
    let records: Int
    let items: Int
    let bytes: Int
    /// Files that a restore on another machine takes besides.
    let notIncluded: [String]
    /// Files beside the store that are in it.
    let files: [String]
    /// Those that should be and are not.
    let leftOut: [MachineFiles.LeftOut]
  }

  func run() async throws {
    try await options.show { daemon in
      do throws(KeychainError) { try BackupDraft.checkIsFree(file, replacing: force) } catch {
        throw CommandFailure(backup: error)
      }
      let environment = ProcessInfo.processInfo.environment
      let configuration = SettingsLoader.file(named: options.settings.config, environment: environment)
      let (machine, paths, leftOut) = MachineFiles.read(
        daemon.settings, configuration: configuration, SystemPlaces(environment: environment))
      let made = try await Interruptible.run { [file, force] in
        try await Self.receive(file, replacing: force, machine.encoded(), daemon)
      }
      return Report(
        file: file, storeID: made.storeId, records: made.records, items: made.items, bytes: made.bytes,
        notIncluded: [made.keyFile, made.deviceKeyFile], files: paths, leftOut: leftOut)
    } text: {
      let besides = $0.files.map { "  \($0.printable)\n" }.joined()
      let leftOut = $0.leftOut.map { "Not in it: \($0.path.printable): \($0.reason)\n" }.joined()
      return """
        \(String.contents(records: $0.records, items: $0.items)), \($0.bytes / 1024) KiB, are in \
        \(file.printable)
        \(besides.isEmpty ? "" : "and sealed with them:\n\(besides)")\(leftOut)
        It opens with any key slot of the store: keep a copy of \($0.notIncluded[0].printable),
          a passphrase or a recovery code in another place.
        Never in it: \($0.notIncluded[1].printable), so what is for this device only
          opens on this machine only.

        """
    }
  }

  /// - Returns: when the backup is in its place.
  private static func receive(_ file: String, replacing isReplacing: Bool, _ machine: Data, _ client: DaemonClient)
    async throws -> BackupOutcome
  {
    let settings = client.settings
    let withoutDaemon: () async throws -> BackupOutcome = {
      let draft = try BackupDraft(file, replacing: isReplacing)
      let written = draft.file
      let outcome = try await InterruptibleWork.result { stop in
        try StoreOwner.runNow(settings) { try readStore(settings, machine, into: written, until: stop) }
      }
      try draft.place()
      BackupNote.write(settings)
      return outcome
    }
    do {
      return try await client.askRunning(orStore: settings.store.url == nil ? withoutDaemon : nil) {
        let draft = try BackupDraft(file, replacing: isReplacing)
        let written = draft.file
        var length = 0
        let last = try await client.followIfThere(BackupStore(machine: machine), firstWithin: firstWithin) {
          guard let data = $0.data else { return }
          try await SystemThread.result { [length] in try written.write([UInt8](data), at: length) }
          length += data.count
        }
        guard let last else { return nil }
        guard let outcome = last.made, length == outcome.fileBytes else { throw DaemonClient.unreadable }
        try await SystemThread.result { try written.sync() }
        try draft.place()
        BackupNote.write(settings)
        return outcome
      }
    } catch let error as KeychainError { throw CommandFailure(backup: error) } catch is DaemonClient.LeftOpen {
      // Whatever the daemon wrote, it has no name.
      throw CancellationError()
    }
  }

  /// What the daemon does, by the owner of the store, into a file that is open.
  private static func readStore(_ settings: Settings, _ machine: Data, into file: FileBytes, until stop: StopFlag)
    throws -> BackupOutcome
  {
    let keychain = try OpenStore.forReading(settings) { try StoreSecret.ask($0, until: stop) }
    defer { keychain.close() }
    let service = BackupService(settings, logger: Logger(label: "backup") { _ in SwiftLogNoOpLogHandler() })
    var length = 0
    let outcome = try service.make(of: keychain, with: machine, for: OpenStore.actor(user: getuid())) {
      guard !stop.isUp else { throw CancellationError() }
      try file.write([UInt8]($0), at: length)
      length += $0.count
    }
    try file.sync()
    return outcome
  }
}

/// `threadkeeper store forget-damaged`
struct StoreForgetDamagedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "forget-damaged", "Give up what cannot be read.",
    """
    For the alert StoreDamaged, or a rotation of the keys that is refused, where no backup has the records: try \
    `threadkeeper store restore` first. What was in them is lost: a border router and its credentials, the \
    preferred network, an enrolled client, a consent. Where only credentials are damaged, they are missing from \
    then on. A home whose name is lost is called `lost-` and a number. Routers announce themselves again; the \
    rest is yours to enter again.

    Until then the home acts as if a router with the preferred network's key could be among them, so that no \
    router alone changes it.

    Examples:
      threadkeeper store forget-damaged --yes
      threadkeeper store forget-damaged --home cabin --yes --json
    """)

  @Flag(help: "What is in them may be lost.") var yes = false

  @Option(help: "Of this home only, also one that the settings name no more.") var home: String?

  @OptionGroup var options: CommandOptions

  func run() async throws {
    guard yes else {
      throw CommandFailure(
        .usage, "what is in the damaged records is lost by this for good",
        remedy: "put a backup in place with `threadkeeper store restore`; where none has them, repeat this with --yes")
    }
    try await options.perform { _ in
      ForgetDamaged(home: home)
    } text: {
      Self.text($0, of: home)
    }
  }

  static func text(_ report: ForgetDamaged.Reply, of home: String?) -> String {
    let place = home.map { "the home \($0.printable)" } ?? "the store"
    var text =
      report.forgotten.isEmpty
      ? "All that is stored of \(place) can be read.\n" : report.forgotten.map { "Given up: \($0.what).\n" }.joined()
    if report.remaining > 0 {
      text +=
        "\(String.records(report.remaining)) of other homes cannot be read: `threadkeeper store verify` names them,"
        + " and `threadkeeper store forget-damaged` without --home gives up all.\n"
    }
    return text
  }
}
