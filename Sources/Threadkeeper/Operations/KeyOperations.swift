import Broker
import Glibc
import Home
import KeychainCore
import LocalAPI
import Logging
import Settings
import SodiumCrypto
import Wire

/// An operation on the keys of the store. Where no daemon runs the command performs it itself: a daemon that cannot open
/// its store needs it. A daemon changes keys one after the other: a passphrase takes much memory, and what is decided
/// about slots rests on those that there are.
protocol KeyOperation: Operation { func perform(_ store: OpenedStore) throws -> Reply }

extension KeyOperation {
  func perform(_ context: OperationContext) throws -> Reply {
    let keychain = try context.store.keychain(
      instead: "its key is sealed by your key service: see `fleet.seal_command` and `fleet.unseal_command`")
    let store = OpenedStore(
      keychain: keychain, settings: context.settings, actor: context.actor, logger: context.logger)
    guard access == .owner else { return try perform(store) }
    return try context.keys.withLock { _ in
      let reply = try perform(store)
      context.noteRecoveryCode()
      return reply
    }
  }
}

/// A store that is open: in the daemon, or in a command.
struct OpenedStore {
  let keychain: Keychain
  let settings: Settings
  /// For whom, in the audit; nil is the process itself.
  var actor: String?
  var logger: Logger?

  /// What is at hand here: the key file of the settings, and what systemd hands over.
  fileprivate func tried(_ slots: [KeySlot]) throws -> [Int64: KeySlotReport.Opens] {
    var outcome: [Int64: KeySlotReport.Opens] = [:]
    let keyFile = try keychain.slotsOpened(by: .keyFile(path: settings.store.keyFile))
    for slot in slots {
      switch slot.kind {
      case .keyFile: outcome[slot.number] = keyFile.contains(slot.number) ? .yes : .no
      case .systemdCredential:
        let opened = try keychain.slotsOpened(by: .systemdCredential(name: slot.label))
        outcome[slot.number] = opened.contains(slot.number) ? .yes : .no
      case .passphrase, .recoveryCode: break
      }
    }
    return outcome
  }

  /// What of a secret opens slots, and which. None of a key file that is not there: its slots are reported
  /// before they go.
  fileprivate func opening(_ secret: StoreSecret, of slots: [KeySlot]) throws -> [(way: KeySlotSecret, slots: [Int64])]
  {
    var found: [(way: KeySlotSecret, slots: [Int64])] = []
    for way in try secret.ways() {
      if case .keyFile(let path) = way, try !KeySlotSecret.isKeyFile(at: path) { continue }
      let opened = try keychain.slotsOpened(by: way)
      if !opened.isEmpty { found.append((way, opened)) }
    }
    guard found.isEmpty, secret.kind == .keyFile, slots.contains(where: { $0.kind == .keyFile }),
      try KeySlotSecret.isKeyFile(at: secret.value)
    else { return found }
    throw CommandFailure(
      .notPermitted, "the key file \(secret.value) opens no key slot: it belongs to another store, or its slot is gone",
      remedy: "put the right one in its place, or move this one away")
  }
}

/// What opens the store.
struct ListKeySlots: KeyOperation, ReadOperation {
  struct Reply: Codable { var slots: [KeySlotReport] }

  func perform(_ store: OpenedStore) throws -> Reply {
    let slots = try store.keychain.slots()
    let tried = try store.tried(slots)
    return Reply(slots: slots.map { KeySlotReport($0, opens: tried[$0.number] ?? .notTried) })
  }
}

/// Adds a key slot.
struct AddKeySlot: KeyOperation, OneTimeOperation {
  var secret: StoreSecret
  /// What `keys list` says of it.
  var label: String?

  struct Reply: Codable {
    var slot: KeySlotReport
    /// The path of a key file that was made.
    var keyFileMade: String?
    /// The file of the device key was lost, and whoever had the key has written it again.
    var deviceKeyWritten: Bool
  }

  func perform(_ store: OpenedStore) throws -> Reply {
    try secret.checkAsNew()
    guard let way = try secret.ways().first else { throw CommandFailure(.usage, "which key is to be added?") }
    let newFile = try newKeyFile(way)
    guard try store.keychain.slotsOpened(by: way).isEmpty else {
      throw CommandFailure(.usage, "the store has a slot that opens with this already")
    }
    var hasWrittenDeviceKey = false
    let slot: KeySlot
    do throws(KeychainError) {
      slot = try store.keychain.addKeySlot(way, label: label ?? "", for: store.actor) { hasWrittenDeviceKey = true }
    } catch { throw failure(error, newFile: newFile) }
    store.logger?.notice("a key slot is added", metadata: ["slot": "\(slot.number) (\(slot.kind.name))"])
    return Reply(slot: KeySlotReport(slot, opens: .yes), keyFileMade: newFile, deviceKeyWritten: hasWrittenDeviceKey)
  }

  /// The path of the key file that is to be made; nil where there is one.
  ///
  /// - Throws: `CommandFailure` where its directory is missing: most likely that of a stick which is not mounted,
  ///   and a key on the store's own disk is none of a stick.
  private func newKeyFile(_ way: KeySlotSecret) throws(CommandFailure) -> String? {
    guard case .keyFile(let path) = way, Glibc.access(path, F_OK) != 0 else { return nil }
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    var status = stat()
    guard stat(directory, &status) != 0, errno == ENOENT || errno == ENOTDIR else { return path }
    throw CommandFailure(
      .cannotCreate, "cannot make the key file \(path): \(String(cString: strerror(errno)))",
      remedy: "its directory must be there: is it on a disk that is not mounted?")
  }

  private func failure(_ error: KeychainError, newFile: String?) -> CommandFailure {
    switch error.status {
    case .writePermission where newFile != nil, .noSuchKeychain where newFile != nil:
      CommandFailure(.cannotCreate, error.message)
    default: CommandFailure(error)
    }
  }
}

/// Removes a key slot, never the last one.
struct RemoveKeySlot: KeyOperation, OneTimeOperation {
  var slot: Int64
  /// Also the last passphrase, or what leaves no slot that is known to open.
  var isConfirmed: Bool?

  struct Reply: Codable { var removed: [KeySlotReport] }

  func perform(_ store: OpenedStore) throws -> Reply {
    let slots = try store.keychain.slots()
    guard let slot = slots.first(where: { $0.number == self.slot }) else {
      throw CommandFailure(.noInput, "there is no key slot \(self.slot)", remedy: "`threadkeeper keys list` names them")
    }
    let others = slots.filter { $0.number != slot.number }
    guard !others.isEmpty else {
      throw CommandFailure(
        .usage, "this is the only key slot: nobody could open the store any more",
        remedy: "`threadkeeper keys add` adds another one first")
    }
    if isConfirmed != true {
      var tried = try store.tried(slots)
      if let passphrase = store.settings.store.passphrase {
        for way in try StoreSecret.ways(passphrase) {
          for number in try store.keychain.slotsOpened(by: way) { tried[number] = .yes }
        }
      }
      guard others.contains(where: { tried[$0.number] ?? .notTried != .no }) else {
        throw CommandFailure(
          .usage, "none of the other key slots opens with what is here",
          remedy: "--yes removes it all the same, if you have the key of another one elsewhere")
      }
      guard slot.kind != .passphrase || others.contains(where: { $0.kind == .passphrase }) else {
        throw CommandFailure(
          .usage,
          "this is the last passphrase: items that need one are deleted with it, and what is locked"
            + " will be in reach of every key file again", remedy: "--yes removes it all the same")
      }
      let opensHere = { (slot: KeySlot) in tried[slot.number] == .yes }
      guard !opensHere(slot) || others.contains(where: opensHere) else {
        throw CommandFailure(
          .usage,
          "the daemon opens the store with this key slot when it starts, and no other one opens with what is"
            + " here: without it every start needs a passphrase or a recovery code",
          remedy: "--yes removes it all the same; then set `store.passphrase`, best as"
            + " THREADKEEPER_STORE_PASSPHRASE_FILE")
      }
    }
    try store.keychain.removeKeySlot(slot.number, for: store.actor)
    store.logger?.notice("a key slot is removed", metadata: ["slot": "\(slot.number) (\(slot.kind.name))"])
    return Reply(removed: [KeySlotReport(slot, opens: .notTried)])
  }
}

/// Gives the store new root keys, and puts every record and item under new keys. What was given to stay must open a slot: nobody
/// loses a key slot by a slip of the fingers, whatever was confirmed. What systemd hands over here stays without being
/// given.
struct RotateKeys: KeyOperation, OneTimeOperation {
  /// What is to open the store from then on.
  var secrets: [StoreSecret]
  /// Also when slots go.
  var isConfirmed: Bool?
  /// Deletes the items for this device only whose device key is gone.
  var deletesDeviceItems: Bool?

  struct Reply: Codable {
    var removed: [KeySlotReport]
    /// Those that are under new keys.
    var records: Int
    var items: Int
    /// Items for this device only that were deleted, because their device key is gone.
    var deleted: Int
    /// As of `AddKeySlot`.
    var deviceKeyWritten: Bool
  }

  func perform(_ store: OpenedStore) throws -> Reply {
    let slots = try store.keychain.slots()
    var ways: [KeySlotSecret] = []
    var kept: Set<Int64> = []
    for (position, secret) in secrets.enumerated() {
      let opening = try store.opening(secret, of: slots)
      let typed = secrets.filter { $0.kind != .keyFile }.count
      guard !opening.isEmpty || secret.kind == .keyFile else {
        let number = secrets[...position].filter { $0.kind != .keyFile }.count
        throw CommandFailure(
          .notPermitted,
          "the passphrase or recovery code\(typed > 1 ? " number \(number)" : "") opens no key slot: it is"
            + " mistyped, or its slot is gone", remedy: "give it again, or leave it out")
      }
      for (way, opened) in opening {
        ways.append(way)
        kept.formUnion(opened)
      }
    }
    for slot in slots where slot.kind == .systemdCredential && !kept.contains(slot.number) {
      let way = KeySlotSecret.systemdCredential(name: slot.label)
      let opened = try store.keychain.slotsOpened(by: way)
      guard !opened.isEmpty else { continue }
      ways.append(way)
      kept.formUnion(opened)
    }
    let going = slots.filter { !kept.contains($0.number) }
    guard !ways.isEmpty else { throw CommandFailure(.notPermitted, "none of the given keys opens the store") }
    guard going.isEmpty || isConfirmed == true else {
      let names = going.map { "\($0.number) (\($0.kind.name))" }.listed
      throw CommandFailure(
        .usage, "these key slots would be removed, because what opens them was not given: \(names)",
        remedy: "--yes removes them; add them again afterwards")
    }
    let done = try store.keychain.rotateKeys(ways, deletingDeviceItems: deletesDeviceItems == true, for: store.actor)
    store.logger?.notice(
      "the keys of the store are new", metadata: ["records": "\(done.records)", "items": "\(done.items)"])
    return Reply(
      removed: done.removedSlots.map { KeySlotReport($0, opens: .no) }, records: done.records, items: done.items,
      deleted: done.deletedItems, deviceKeyWritten: done.hasWrittenDeviceKey)
  }
}

/// A key slot as commands print it.
struct KeySlotReport: Codable {
  enum Opens: String, Codable {
    case yes, no
    /// It takes something that is not at hand.
    case notTried = "not_tried"
  }

  var id: Int64
  var kind: String
  var label: String
  /// RFC 3339.
  var created: String
  var opens: Opens

  init(_ slot: KeySlot, opens: Opens) {
    id = slot.number
    kind = slot.kind.name
    label = slot.label
    created = WireTime(milliseconds: slot.created / 1_000).description
    self.opens = opens
  }
}

extension KeySlot.Kind {
  var name: String {
    switch self {
    case .keyFile: "key_file"
    case .passphrase: "passphrase"
    case .systemdCredential: "systemd_credential"
    case .recoveryCode: "recovery_code"
    }
  }
}
