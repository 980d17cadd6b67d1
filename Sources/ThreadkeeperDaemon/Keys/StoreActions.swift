// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import Glibc
import KeychainCore
import Settings
import SodiumCrypto

/// The work of `keys` on a store that is open: in the daemon, or in the command itself.
package struct StoreActions: Sendable {
  let keychain: Keychain
  let settings: Settings
  /// For whom, in the audit; nil is the process itself.
  let actor: String?

  package init(keychain: Keychain, settings: Settings, actor: String? = nil) {
    self.keychain = keychain
    self.settings = settings
    self.actor = actor
  }

  package func list() throws -> StoreReport {
    let slots = try keychain.slots()
    let tried = try tried(slots)
    return StoreReport(slots: slots.map { report($0, opens: tried[$0.number] ?? .notTried) })
  }

  /// What is at hand here: the key file of the settings, and what systemd hands over.
  private func tried(_ slots: [KeySlot]) throws -> [Int64: StoreReport.Slot.Opens] {
    var outcome: [Int64: StoreReport.Slot.Opens] = [:]
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

  func report(_ slot: KeySlot, opens: StoreReport.Slot.Opens) -> StoreReport.Slot {
    StoreReport.Slot(
      id: slot.number, kind: slot.kind.name, label: slot.label,
      created: WireTime(milliseconds: slot.created / 1_000).description, opens: opens)
  }

  package func remove(_ request: KeysMethods.Removal) throws -> StoreReport {
    let slots = try keychain.slots()
    guard let slot = slots.first(where: { $0.number == request.slot }) else {
      throw CommandFailure(
        .noInput, "there is no key slot \(request.slot)",
        remedy: "`threadkeeper keys list` names them")
    }
    let others = slots.filter { $0.number != slot.number }
    guard !others.isEmpty else {
      throw CommandFailure(
        .usage, "this is the only key slot: nobody could open the store any more",
        remedy: "`threadkeeper keys add` adds another one first")
    }
    if request.isConfirmed != true {
      var tried = try tried(slots)
      if let passphrase = settings.store.passphrase {
        for way in try StoreSecret.ways(passphrase) {
          for number in try keychain.slotsOpened(by: way) { tried[number] = .yes }
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
            + " will be in reach of every key file again",
          remedy: "--yes removes it all the same")
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
    try keychain.removeKeySlot(slot.number, for: actor)
    return StoreReport(removed: [report(slot, opens: .notTried)])
  }
}

extension KeySlot.Kind {
  package var name: String {
    switch self {
    case .keyFile: "key_file"
    case .passphrase: "passphrase"
    case .systemdCredential: "systemd_credential"
    case .recoveryCode: "recovery_code"
    }
  }
}

extension StoreActions {
  package func add(_ request: KeysMethods.Addition) throws -> StoreReport {
    try request.secret.checkAsNew()
    guard let way = try request.secret.ways().first else {
      throw CommandFailure(.usage, "which key is to be added?")
    }
    let newFile = try newKeyFile(way)
    guard try keychain.slotsOpened(by: way).isEmpty else {
      throw CommandFailure(.usage, "the store has a slot that opens with this already")
    }
    var hasWrittenDeviceKey = false
    let slot: KeySlot
    do throws(KeychainError) {
      slot = try keychain.addKeySlot(way, label: request.label ?? "", for: actor) {
        hasWrittenDeviceKey = true
      }
    } catch {
      throw failure(error, newFile: newFile)
    }
    return StoreReport(
      slots: [report(slot, opens: .yes)], keyFileMade: newFile,
      deviceKeyWritten: hasWrittenDeviceKey ? true : nil)
  }

  /// The path of the key file that is to be made; nil where there is one.
  ///
  /// - Throws: `CommandFailure` where its directory is missing: most likely that of a stick which is not mounted,
  ///   and a key on the store's own disk is none of a stick.
  private func newKeyFile(_ way: KeySlotSecret) throws(CommandFailure) -> String? {
    guard case .keyFile(let path) = way, access(path, F_OK) != 0 else { return nil }
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

extension StoreActions {
  /// What was given to stay must open a slot: nobody loses a key slot by a slip of the fingers, whatever was
  /// confirmed.
  package func rotate(_ request: KeysMethods.Rotation) throws -> StoreReport {
    let slots = try keychain.slots()
    var ways: [KeySlotSecret] = []
    var kept: Set<Int64> = []
    for (position, secret) in request.secrets.enumerated() {
      let opening = try opening(secret, of: slots)
      let typed = request.secrets.filter { $0.kind != .keyFile }.count
      guard !opening.isEmpty || secret.kind == .keyFile else {
        let number = request.secrets[...position].filter { $0.kind != .keyFile }.count
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
    let going = slots.filter { !kept.contains($0.number) }
    guard !ways.isEmpty else {
      throw CommandFailure(.notPermitted, "none of the given keys opens the store")
    }
    guard going.isEmpty || request.isConfirmed == true else {
      let names = going.map { "\($0.number) (\($0.kind.name))" }.joined(separator: ", ")
      throw CommandFailure(
        .usage, "these key slots would be removed, because what opens them was not given: \(names)",
        remedy: "--yes removes them; add them again afterwards")
    }
    let done = try keychain.rotateKeys(
      ways, deletingDeviceItems: request.deletesDeviceItems == true, for: actor)
    return StoreReport(
      removed: done.removedSlots.map { report($0, opens: .no) }, items: done.items,
      deleted: done.deletedItems, deviceKeyWritten: done.hasWrittenDeviceKey)
  }

  /// What of a secret opens slots, and which. None of a key file that is not there: its slots are reported
  /// before they go.
  private func opening(
    _ secret: StoreSecret, of slots: [KeySlot]
  ) throws -> [(way: KeySlotSecret, slots: [Int64])] {
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
      .notPermitted,
      "the key file \(secret.value) opens no key slot: it belongs to another store, or its slot is gone",
      remedy: "put the right one in its place, or move this one away")
  }
}
