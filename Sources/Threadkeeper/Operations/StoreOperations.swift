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
package struct VerifyStore: Operation {
  package init() {}

  package func perform(_ context: OperationContext) throws -> VerificationOutcome {
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
package struct ForgetDamaged: OneTimeOperation {
  /// Also one that the settings name no more; nil: all of the store.
  var home: String?

  package init(home: String? = nil) { self.home = home }

  /// Also what `store forget-damaged --json` prints.
  package struct Reply: Codable, Sendable {
    package var forgotten: [VerificationOutcome.Damage]
    /// How much else cannot be read.
    package var remaining: Int
  }

  package func perform(_ context: OperationContext) throws -> Reply {
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
package struct BackupStore: StreamOperation {
  package init() {}

  /// A part of what comes of it.
  package struct Reply: Codable, Sendable {
    /// The next bytes of the file, as base64.
    package var data: Data?
    /// The last one.
    package var made: BackupOutcome?
  }

  package func perform(_ context: OperationContext, _ replies: VarlinkReplies<Reply>) throws -> Reply {
    let keychain = try context.store.keychain(
      instead: "make a backup of the database, as PostgreSQL does it, and keep it apart from the keys")
    return Reply(made: try context.backups.make(of: keychain, for: context.actor, replies))
  }
}

/// What a backup came to.
package struct BackupOutcome: Codable, Equatable, Sendable {
  package var storeId: String
  package var records: Int
  package var items: Int
  /// Of the database in it.
  package var bytes: Int
  /// Of the whole file.
  package var fileBytes: Int
  /// Of the daemon, whose settings may be others than the command's.
  package var keyFile: String
  package var deviceKeyFile: String

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
package struct VerificationOutcome: Codable, Equatable, Sendable {
  /// A record that does not open.
  package struct Damage: Codable, Equatable, Sendable {
    package var number: Int64
    /// Nil for a record of no home.
    package var home: String?
    /// Whose credentials are damaged, where that is all.
    package var borderAgentId: String?
    /// Likewise: `preferred`, the id of one that was, or the Extended PAN ID of one that is shared.
    package var network: String?
    /// The login that shares it.
    package var user: String?
  }

  package var records: Int
  package var items: Int
  var matchesManifest: Bool
  /// Of items.
  package var damagedRows: [Int64]
  package var damagedRecords: [Damage]
  /// Items whose secret was not opened, because the store is locked.
  package var locked: Int
  package var condition: String
  /// Messages for the broker with numbers that none can have: they were put there or altered, and are never sent.
  package var impossibleMessages: Int
  /// What is wrong with the audit; nil: nothing.
  package var auditProblem: String?

  package var isWell: Bool {
    auditProblem == nil && matchesManifest && damagedRows.isEmpty && damagedRecords.isEmpty && impossibleMessages == 0
      && condition == StoreCondition.healthy.words
  }

  package init(verifying keychain: Keychain) throws(KeychainError) {
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
  package init(backup error: KeychainError) {
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
