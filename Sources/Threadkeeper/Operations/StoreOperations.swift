import Bridge
import FoundationEssentials
import Home
import HomeStore
import KeychainCore
import LocalAPI
import Logging
import Settings
import ThreadDataset

/// Opens every item, every record and every line of the audit.
struct VerifyStore: Operation {
  func perform(_ context: OperationContext) throws -> VerificationOutcome {
    let keychain = try context.store.keychain(
      instead: "run `threadkeeper fleet doctor`; `threadkeeper audit --verify` checks the audit of a shard")
    let outcome = try VerificationOutcome(verifying: keychain)
    if !outcome.isWell {
      context.logger.error(
        "a verification found damage",
        metadata: [
          "condition": "\(outcome.condition)", "rows": "\(outcome.damagedRows.count)",
          "records": "\(outcome.damagedRecords.count)",
        ])
    }
    return outcome
  }
}

/// Gives up what cannot be read: records are deleted, credentials are missing from then on, and the homes count as
/// whole again. A second call finds none.
struct ForgetDamaged: OneTimeOperation {
  /// Also one that the settings name no more; nil: all of the store.
  var home: String?

  /// Also what `store forget-damaged --json` prints.
  struct Reply: Codable {
    var forgotten: [VerificationOutcome.Damage]
    /// How much else cannot be read.
    var remaining: Int
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let (forgotten, remaining): ([DamagedThing], Int)
    do { (forgotten, remaining) = try context.bridge.loop.forgetDamage(of: home, actor: context.actor) } catch let error
      as UnknownHome
    {
      throw CommandFailure(
        .usage, "there is no home \(error.name)", remedy: "`threadkeeper store verify` names what is damaged")
    }
    for thing in forgotten {
      context.logger.notice(
        "a damaged record is given up",
        metadata: ["record": "\(thing.id.rawValue)", "home": "\(thing.home ?? "none")", "by": "\(context.actor)"])
    }
    return Reply(forgotten: forgotten.map(VerificationOutcome.Damage.init), remaining: remaining)
  }
}

/// Sends a copy of the store as a file, a part at a time. The outcome comes last.
struct BackupStore: StreamOperation {
  /// What makes the machine besides, sealed with the copy; only who has its files knows what it means.
  var machine: Data?

  /// A part of what comes of it.
  struct Reply: Codable {
    /// The next bytes of the file, as base64.
    var data: Data?
    /// The last one.
    var made: BackupOutcome?
  }

  func perform(_ context: OperationContext, _ replies: VarlinkReplies<Reply>) throws -> Reply {
    let keychain = try context.store.keychain(
      instead: "make a backup of the database, as PostgreSQL does it, and keep it apart from the keys")
    let made = try context.backups.make(of: keychain, with: machine, for: context.actor) {
      try replies.send(Reply(data: $0))
    }
    return Reply(made: made)
  }
}

/// What a backup came to.
struct BackupOutcome: Codable, Equatable {
  var storeId: String
  var records: Int
  var items: Int
  /// Of the database in it.
  var bytes: Int
  /// Of the whole file.
  var fileBytes: Int
  /// Of the daemon, whose settings may be others than the command's.
  var keyFile: String
  var deviceKeyFile: String

  init(_ trailer: BackupTrailer, fileBytes: Int, _ settings: Settings) {
    storeId = trailer.store.description
    records = Int(trailer.records)
    items = Int(clamping: trailer.items)
    bytes = Int(clamping: trailer.databaseLength)
    self.fileBytes = fileBytes
    keyFile = settings.store.keyFile
    deviceKeyFile = OpenStore.location(settings).deviceKeyPath
  }
}

/// What a verification of the whole store found.
struct VerificationOutcome: Codable, Equatable {
  /// A record that does not open.
  struct Damage: Codable, Equatable {
    var number: Int64
    /// Nil for a record of no home.
    var home: String?
    /// Whose credentials are damaged, where that is all.
    var borderAgentId: String?
    /// Likewise: `preferred`, the id of one that was, or the Extended PAN ID of one that is shared.
    var network: String?
    /// The login that shares it.
    var user: String?
  }

  var records: Int
  var items: Int
  var matchesManifest: Bool
  /// Of items.
  var damagedRows: [Int64]
  var damagedRecords: [Damage]
  /// Items whose secret was not opened, because the store is locked.
  var locked: Int
  var condition: String
  /// Messages for the broker with numbers that none can have: they were put there or altered, and are never sent.
  var impossibleMessages: Int
  /// What is wrong with the audit; nil: nothing.
  var auditProblem: String?

  var isWell: Bool {
    auditProblem == nil && matchesManifest && damagedRows.isEmpty && damagedRecords.isEmpty && impossibleMessages == 0
      && condition == StoreCondition.healthy.words
  }

  init(verifying keychain: Keychain) throws(KeychainError) {
    let found = try keychain.verify(.everything)
    auditProblem = try keychain.auditProblem()
    (records, items) = (found.records, found.items)
    matchesManifest = found.matchesManifest
    damagedRows = keychain.quarantine.sorted()
    damagedRecords = Self.named(found.unreadableRecords, in: keychain)
    locked = found.locked
    impossibleMessages = found.impossibleMessages
    condition = keychain.condition.words
  }

  /// Without names where the homes cannot be read.
  private static func named(_ records: [DamagedRecord], in keychain: Keychain) -> [Damage] {
    guard !records.isEmpty else { return [] }
    guard let homes = try? LoadedStore([], SealedRecords(keychain)) else {
      return records.map { Damage(number: $0.id.rawValue) }
    }
    let closed = Set(records.map(\.id))
    return homes.damage(records).filter { closed.contains($0.id) }.map(Damage.init)
  }
}

extension VerificationOutcome.Damage {
  init(_ thing: DamagedThing) {
    self.init(number: thing.id.rawValue, home: thing.home)
    switch thing.key {
    case .router(let agent): borderAgentId = agent.description
    case .home: network = "preferred"
    case .former(let id): network = FormerNetwork.text(of: id)
    case .shared(let login, let id): (network, user) = (id.description, login.text)
    default: break
    }
  }
}

extension CommandFailure {
  /// What went wrong with a backup.
  init(backup error: KeychainError) {
    switch error.status {
    case .duplicateItem: self.init(.cannotCreate, error.message, remedy: "`--force` replaces it")
    case .noSuchKeychain, .writePermission: self.init(.cannotCreate, error.message)
    case .readOnly:
      self.init(
        .badInput, error.message, remedy: "`threadkeeper store verify` says more; keep the backups that you have")
    default: self.init(error)
    }
  }
}
