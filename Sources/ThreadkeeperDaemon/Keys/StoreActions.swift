// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import Settings

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
