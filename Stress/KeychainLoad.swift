import KeychainCore
import SodiumCrypto

/// One open keychain, as the daemon has it: items, verification, upkeep, key slots, lock and rotation at
/// once.
struct KeychainLoad: Load {
  private static let accounts = 24

  private let keychain: Keychain
  private let location: StoreLocation
  private let keySlot: KeySlotSecret

  init(directory: String) throws {
    location = StoreLocation(directory: directory + "/store")
    keySlot = .keyFile(path: directory + "/store.key")
    var options = KeychainOptions()
    options.defersUpkeep = true
    options.auditor = "stress"
    keychain = try Keychain.create(at: location, slots: [keySlot], options: options)
  }

  func step(thread: Int, _ random: inout SystemRandomNumberGenerator, _ journal: Journal) {
    let account = "user \(Int.random(in: 0..<Self.accounts, using: &random))"
    let choice = Int.random(in: 0..<64, using: &random)
    do {
      if choice == 4, try keys(Int.random(in: 0..<16, using: &random), journal) {
        return journal.did("KeychainCore: keys")
      }
      switch choice {
      case 0: try verify(journal)
      case 1: try keychain.tick()
      case 2: try readBeside(journal)
      case 3:
        _ = (keychain.condition, keychain.notices, keychain.quarantine)
        _ = try keychain.slots()
      case 4..<20: try add(account, Accessibility.allCases[choice % 6])
      case 20..<32: try change(account)
      case 32..<40: try delete(account)
      default: try find(account, journal)
      }
      journal.did("KeychainCore: step")
    } catch let error as KeychainError where Self.mayCome(error) {
      journal.did("KeychainCore: refused, \(error.status)")
    } catch { journal.complain("\(error)") }
  }

  func finish(_ journal: Journal) {
    keychain.close()
    do {
      let keychain = try Keychain.open(at: location, with: keySlot)
      guard keychain.condition == .healthy else { return journal.complain("the store is \(keychain.condition)") }
      try keychain.rotateKeys([keySlot])
      if let problem = try keychain.auditProblem() { journal.complain(problem) }
      let report = try keychain.verify(.everything)
      if !report.matchesManifest || !report.isWhole || !report.unreadable.isEmpty { journal.complain("\(report)") }
    } catch { journal.complain("\(error)") }
  }

  /// Another thread was faster, or has locked the store, or renews the keys.
  private static func mayCome(_ error: KeychainError) -> Bool {
    switch error.status {
    case .duplicateItem, .itemNotFound, .interactionNotAllowed: true
    // Of the device key, for example, nobody may say so here.
    default: error.status == .notAvailable && error.isTemporary
    }
  }

  /// What is done to the keys. False for most numbers, so that something is left to do for the others.
  private func keys(_ choice: Int, _ journal: Journal) throws -> Bool {
    switch choice {
    case 0..<2: try keychain.rotateKeys([keySlot])
    case 2..<10: try keychain.unlock(with: keySlot)
    case 10: if let problem = try keychain.auditProblem() { journal.complain(problem) }
    default: return false
    }
    return true
  }

  private static func query(_ account: String) -> ItemQuery {
    ItemQuery(.genericPassword, [.account: .string(account), .service: .string("stress")], accessGroups: ["own"])
  }

  private static func secret(_ account: String) -> SecretBytes {
    SecretBytes(copying: Array("\(account):".utf8) + (0..<32).map { _ in .random(in: 0...255) })
  }

  private func add(_ account: String, _ accessible: Accessibility) throws {
    try keychain.write { tx in
      _ = try keychain.add(
        NewItem(
          .genericPassword,
          attributes: [.account: .string(account), .service: .string("stress"), .accessGroup: .string("own")],
          secret: Self.secret(account), accessible: accessible), in: tx)
    }
  }

  private func change(_ account: String) throws {
    try keychain.write { tx in
      for item in try keychain.items(matching: Self.query(account), in: tx) {
        _ = try keychain.update(item, secret: Self.secret(account), in: tx)
      }
    }
  }

  private func delete(_ account: String) throws {
    try keychain.write { tx in
      for item in try keychain.items(matching: Self.query(account), in: tx) { try keychain.delete(item, in: tx) }
    }
  }

  private func find(_ account: String, _ journal: Journal) throws {
    try keychain.read { tx in
      for item in try keychain.items(matching: Self.query(account), in: tx) {
        let isRight = try keychain.secret(of: item, in: tx).withUnsafeBytes { $0.starts(with: "\(account):".utf8) }
        if !isRight { journal.complain("the secret of another item") }
      }
    }
  }

  private func verify(_ journal: Journal) throws {
    if try !keychain.verify().matchesManifest { journal.complain("the manifest does not fit") }
  }

  /// As a command beside the daemon reads.
  private func readBeside(_ journal: Journal) throws {
    let beside = try Keychain.open(at: location, with: keySlot, access: .readOnly)
    defer { beside.close() }
    if beside.condition != .healthy { journal.complain("beside, the store is \(beside.condition)") }
    _ = try beside.verify()
  }
}
