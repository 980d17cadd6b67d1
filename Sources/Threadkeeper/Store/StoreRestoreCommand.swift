import ArgumentParser
import Bridge
import Broker
import FoundationEssentials
import Home
import HomeStore
import KeychainCore
import SQLiteDatabase
import Settings
import ThreadkeeperSupport
import Wire

/// `threadkeeper store restore`
struct StoreRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "restore", "Put the store of a backup in place, and what makes the machine besides.",
    """
    Stop the daemon first. Every byte of the backup is checked with the key before anything is \
    replaced. Interrupted at any moment, the store is the old one or the new one, whole.

    The backup is opened by --key-file, or else as the store is: by `store.passphrase`, or else by the \
    key file, then by what systemd hands over, then by the passphrase or recovery code that you type. If \
    it was typed, or --key-file was used, the key file of this machine gets a key slot, and is made if there is \
    none: the daemon starts with it. On another machine than that of the backup, items for that device only \
    are left out.

    The settings, the page's token and the agents' files come back where nothing is there; --force replaces what is: \
    until all is done its copy is beside it as FILE.threadkeeper-DATE, and stays where this is killed. \
    They are shown first. On a machine that had no store root starts the units that were enabled; else the commands are \
    printed. Run it as root for that. Nothing of the broker is in a backup.

    What was stored since the backup is lost; routers announce themselves again.

    With the store come back who was enrolled, what was consented to, the broker's password and the key \
    slots, as of the backup, whatever was revoked, removed or changed since. They are listed: revoke and \
    remove them again.

    With --in-place no file is read: the store that is there is taken, though it is older than its anchor. \
    Such a store is read-only until you say so that you put it there.

    Examples:
      threadkeeper store restore /media/stick/threadkeeper-monday.tkbackup
      threadkeeper store restore --yes /var/backups/threadkeeper.tkbackup
      sudo threadkeeper store restore /media/stick/threadkeeper-monday.tkbackup
      threadkeeper store restore --key-file old/store.key home.tkbackup
      threadkeeper store restore --in-place
    """)

  @Argument(help: "What `threadkeeper store backup` wrote.", completion: .file()) var file: String?

  @Option(
    help: ArgumentHelp("A key file of the backup's store, where it is not in its place.", valueName: "file"),
    completion: .file()) var keyFile: String?

  @Flag(help: "Also when there is a store, which goes.") var yes = false

  @Flag(help: "Also in place of settings, token and files of agents that are there.") var force = false

  @Flag(help: "Take the older store that is there: you copied it back yourself.") var inPlace = false

  @OptionGroup var options: CommandOptions

  struct Report: Encodable {
    let storeID: String
    let records: Int
    let items: Int
    let replaced: Bool
    /// Changes of the store that the backup does not have; nil where there is no telling how many.
    let changesLost: UInt64?
    /// Items for another device only, which are not restored.
    let leftOut: Int
    /// Items that could not be tried.
    let locked: Int
    /// Records and items that do not open: they were damaged when the backup was made.
    let damaged: Int
    /// The slot that the key file of this machine got; nil: it opens the store anyway, or the daemon has to use another
    /// way.
    let newKeySlot: Int64?
    let keyFile: String
    let keyFileMade: Bool
    /// Why the anchor could not be written, if so.
    let anchorProblem: String?
    /// When the backup was made, as RFC 3339.
    let backupMade: String
    /// Who may have what is in the store, as of that time; nil where it could not be opened to look.
    let access: RestoredAccess?
    /// What was done beside the store; nil where the backup has nothing else.
    let machine: MachineRestore.Report?
  }

  func validate() throws {
    guard inPlace != (file != nil) else { throw ValidationError("Name the file of a backup, or say --in-place.") }
    guard !inPlace || (keyFile == nil && !yes && !force) else {
      throw ValidationError("--in-place takes the store as it is: without --key-file, --yes and --force.")
    }
  }

  func run() throws {
    guard let path = file else { return try accept() }
    guard FleetHome.target == nil else { throw FleetHome.notForOne }
    let place = try SetupPlace.find(options.settings)
    // A file that is named need not be there: the backup may have it.
    var settings =
      try place.text == nil
      ? SetupDraft.load("", place, stateDirectory: options.settings.stateDirectory).usable() : options.settings.load()
    try check(settings, place, isSaid: place.text != nil)
    do {
      let backup = try BackupFile(path)
      // Root's copy is of no use to the store's owner.
      var secrets = keyFile.map { [(try? KeySlotSecret.readKeyFile($0)) ?? .keyFile(path: $0)] }
      var machine: MachineRestore?
      if backup.trailer.attachmentLength > 0 {
        guard yes || !OpenStore.exists(settings) else {
          let there = OpenStore.location(settings).databasePath
          throw KeychainError(.duplicateKeychain, "there is a store at \(there) already")
        }
        let (files, secret) = try StoreOwner.runNow(settings) {
          try opening(settings, secrets) { try $0.attachment(of: backup, with: $1) }
        }
        secrets = [secret]
        machine = try MachineRestore(
          try MachineFiles(decoding: files), place, SystemPlaces(environment: ProcessInfo.processInfo.environment),
          replacing: force)
        let plan = machine?.plan ?? ""
        if !plan.isEmpty { try StandardStream.error.write("In the backup beside the store:\n\(plan)") }
        // The settings of the backup may have the store elsewhere, where nothing shows that a daemon runs here.
        let present = settings
        if let holder = try StoreOwner.runNow(present, { StoreLock.holder(of: OpenStore.location(present)) }) {
          throw KeychainError(
            .notAvailable, "the store \(present.store.path) is in use by \(holder)", lockHolder: holder)
        }
      }
      do {
        try machine?.putFiles()
        if place.text == nil || machine?.hasPutSettings == true {
          settings = try options.settings.load(assuming: PageTokenCommand.onLoopback)
          try check(settings, place, isSaid: machine?.hasPutSettings == true)
        }
        if place.isService { try StoreOwner.prepareDirectory(settings) }
        try restore(backup, secrets, settings, &machine)
      } catch {
        machine?.undo()
        throw error
      }
    } catch let error as KeychainError { throw failure(error, lacksAnswer: false) }
  }

  /// - Parameter isSaid: whether a configuration file says where the store is.
  /// - Throws: `CommandFailure` where this user is not the one who makes a store there.
  private func check(_ settings: Settings, _ place: SetupPlace, isSaid: Bool) throws(CommandFailure) {
    guard settings.store.url == nil else {
      throw CommandFailure(
        .usage, "a fleet has its store in PostgreSQL",
        remedy: "restore the database, then run `threadkeeper fleet accept SHARD`")
    }
    let system = SystemPlaces(environment: ProcessInfo.processInfo.environment)
    let isService =
      place.isService && options.settings.stateDirectory == nil
      && (isSaid || FilePath.directory(of: settings.store.path) == system.stateDirectory)
    // Root makes it as the service's user.
    guard !isService else { return }
    try OpenStore.checkMaking(settings)
  }

  /// Opens a backup as the settings open the store, or by what is known to open it.
  private func opening<R>(
    _ settings: Settings, _ known: [KeySlotSecret]?, _ body: (inout BackupRestore, [KeySlotSecret]) throws -> R
  ) throws -> R {
    var isBrokenOff = false
    var lacksAnswer = false
    var restore = BackupRestore(to: OpenStore.location(settings))
    restore.isReplacing = yes
    restore.options = OpenStore.audited(KeychainOptions())
    if known == nil {
      restore.further = StoreWays.further(settings) { words in
        do {
          let typed = try StoreSecret.ask(words)
          lacksAnswer = typed == nil
          return typed
        } catch {
          isBrokenOff = error is CancellationError
          throw error
        }
      }
    }
    do { return try body(&restore, known ?? StoreWays.first(settings)) } catch {
      throw isBrokenOff ? CancellationError() : failure(error, lacksAnswer: lacksAnswer)
    }
  }

  private func restore(
    _ backup: BackupFile, _ secrets: [KeySlotSecret]?, _ settings: Settings, _ machine: inout MachineRestore?
  ) throws {
    var access: RestoredAccess?
    var keyFileOpens = false
    let done = try StoreOwner.runNow(settings) {
      try machine?.putToken(at: settings.http.tokenFile(besideStore: settings.store.path))
      return try opening(settings, secrets) { restore, secrets in
        if settings.store.passphrase == nil { restore.keyFile = settings.store.keyFile }
        restore.inspect = { store in
          access = try? RestoredAccess(store)
          keyFileOpens = try !store.slotsOpened(by: .keyFile(path: settings.store.keyFile)).isEmpty
        }
        return try restore.run(backup, with: secrets)
      }
    }
    // From here on the store is in its place, and what is put stays.
    let besides = machine?.start(isNew: !done.replaced, settings: settings)
    let report = Report(
      storeID: done.backup.store.description, records: Int(done.records), items: Int(clamping: done.items),
      replaced: done.replaced, changesLost: done.changesLost, leftOut: done.leftOut, locked: done.locked,
      damaged: done.damaged, newKeySlot: done.newSlot?.number, keyFile: settings.store.keyFile,
      keyFileMade: done.madeKeyFile, anchorProblem: done.anchorProblem,
      backupMade: WireTime(milliseconds: done.backup.created / 1_000).description, access: access, machine: besides)
    machine?.forget()
    try options.output.show(report, text: report.text(keyFileOpens: keyFileOpens) + (besides?.text ?? ""))
  }

  private func accept() throws {
    let keychain = try OpenStore.forWriting(options.settings.loadOfStore()) { try StoreSecret.ask($0) }
    defer { keychain.close() }
    do { try keychain.acceptRollback() } catch { throw CommandFailure(error) }
    try options.output.show(
      ["condition": keychain.condition.words],
      text: "The store is accepted as it is; it is \(keychain.condition.words).\n")
  }

  private func failure(_ error: any Error, lacksAnswer: Bool) -> any Error {
    guard let error = error as? KeychainError else { return error }
    return switch error.status {
    case .duplicateKeychain:
      CommandFailure(
        .cannotCreate, error.message, remedy: "`--yes` puts the backup in its place, and what is in it now is gone")
    case .noSuchKeychain: CommandFailure(.noInput, error.message)
    case .writePermission: CommandFailure(.cannotCreate, error.message)
    case .notAvailable where error.lockHolder != nil:
      CommandFailure(.temporary, error.message, remedy: "stop it, and try again")
    default: StoreWays.failure(error, lacksAnswer: lacksAnswer)
    }
  }
}

extension StoreRestoreCommand.Report {
  /// - Parameter keyFileOpens: whether the key file of this machine opens the store.
  fileprivate func text(keyFileOpens: Bool) -> String {
    let contents = String.contents(records: records, items: items)
    var text = "\(contents) are restored.\n"
    if replaced { text += "The store that was there is gone.\n" }
    switch changesLost {
    case 0: break
    case let count?:
      text += "The backup is \(count) changes older than the store was; they are lost. The daemon goes on from here.\n"
    case nil where !replaced: break
    case nil:
      text += "What was changed since \(backupMade), when the backup was made, is lost. The daemon goes on from here.\n"
    }
    if leftOut > 0 {
      text += "\(leftOut) items are left out: they are for the device where the backup was made only, and stay in it.\n"
    }
    if locked > 0 { text += "\(locked) items could not be tried: they are locked.\n" }
    if damaged > 0 {
      text +=
        "\(damaged) of them do not open: they were damaged when the backup was made. An older backup may"
        + " have them; `threadkeeper store verify` names them.\n"
    }
    let path = keyFile.printable
    if let slot = newKeySlot {
      text +=
        keyFileMade
        ? "The key file \(path) is made, with key slot \(slot): the daemon starts with it. Keep a copy of it in"
          + " another place.\n"
        : "The key file \(path) opens the store now, with key slot \(slot): the daemon starts with it.\n"
    } else if !keyFileOpens {
      text +=
        "The key file \(path) does not open the store: the daemon needs what opened it now, or"
        + " `threadkeeper keys add --key-file \(path)`.\n"
    }
    if let problem = anchorProblem { text += "The anchor is not written yet: \(problem). The next start writes it.\n" }
    let unseen =
      "Who has access could not be read. It is as of \(backupMade):"
      + " look at `threadkeeper clients list`, `threadkeeper consent list --grants` and `threadkeeper keys list`.\n"
    return text + (access?.text(made: backupMade) ?? unseen)
  }
}

/// Who may have what is in a store that was put back. It is as it was when the backup was made: what was revoked
/// since holds again.
struct RestoredAccess: Encodable {
  struct Login: Encodable {
    let broker: String
    let username: String
  }

  let clients: [ClientReport]
  /// Homes with records that cannot be read: more may have access there.
  let damaged: [String]
  /// Who is given credentials without a question.
  let grants: [ConsentReport.Grant]
  let brokerLogins: [Login]
  /// The ways into the store.
  let keySlots: [KeySlotReport]

  /// - Parameter keychain: the store, as it is now.
  init(_ keychain: Keychain) throws {
    let snapshot = try HomeSnapshot.read(SealedRecords(keychain))
    clients = snapshot.clients(in: nil).filter { !$0.value.client.isRevoked }.map(ClientReport.init)
    damaged = snapshot.homes.filter(\.value.hasDamage).keys.sorted()
    grants = snapshot.grants.map { ConsentReport.Grant($0) }
    let logins = try keychain.database.read { try BrokerLoginStore.all(in: keychain, $0) }
    keySlots = try keychain.slots().map { KeySlotReport($0, opens: .notTried) }
    brokerLogins = logins.map { Login(broker: $0.address.url, username: $0.username) }
  }
}

/// What `store restore` says of who has access again.
extension RestoredAccess {
  /// Of each kind, for a person.
  private static let listed = 20

  /// - Parameter made: when the backup was.
  func text(made: String) -> String {
    var text = ""
    if !clients.isEmpty || !damaged.isEmpty || !grants.isEmpty {
      text +=
        "As of \(made), when the backup was made, these have access. Revoke again who was revoked since"
        + " (`threadkeeper clients revoke`, `threadkeeper consent revoke`):\n"
      text += Self.list(
        clients.count == 1 ? "1 enrolled client" : "\(clients.count) enrolled clients",
        clients.map { "\($0.user), home \($0.home)" })
      text += Self.list("maybe more, in records that cannot be read", damaged.map { "home \($0)" })
      text += Self.list(
        grants.count == 1 ? "1 consent \"always\"" : "\(grants.count) consents \"always\"",
        grants.map { "\($0.id): \($0.command) of \($0.wanted) to \($0.requester)" })
    }
    if !brokerLogins.isEmpty {
      text += "The broker's password is as it was then. If it was changed since: `threadkeeper login`.\n"
      text += Self.list("for", brokerLogins.map { "\($0.username) at \($0.broker)" })
    }
    text +=
      "The store's key slots are as they were then. Remove again what was removed since (`threadkeeper keys remove`):\n"
    text += Self.list(
      keySlots.count == 1 ? "1 key slot" : "\(keySlots.count) key slots",
      keySlots.map { "\($0.id): \($0.kind)\($0.label.isEmpty ? "" : " " + $0.label)" })
    return text
  }

  private static func list(_ heading: String, _ names: [String]) -> String {
    guard !names.isEmpty else { return "" }
    var text = "  \(heading)\n"
    for name in names.prefix(listed) { text += "    \(name.printable)\n" }
    let rest = names.count - listed
    return text + (rest > 0 ? "    and \(rest) more; --json lists all\n" : "")
  }
}
