// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto

extension StoreActions {
  /// New root keys, if they are wanted. What was given to stay must open a slot: nobody loses a way in by
  /// a slip of the fingers, whatever was confirmed.
  package func renewRoots(_ request: KeysMethods.Rotation) throws -> StoreReport {
    guard let roots = request.roots else { return StoreReport() }
    let slots = try keychain.slots()
    var ways: [KeySlotSecret] = []
    var kept: Set<Int64> = []
    for (position, secret) in roots.enumerated() {
      let opening = try opening(secret, of: slots)
      let typed = roots.filter { $0.kind != .keyFile }.count
      guard !opening.isEmpty || secret.kind == .keyFile else {
        let number = roots[...position].filter { $0.kind != .keyFile }.count
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
    return try renewRoots(request, ways)
  }

  private func renewRoots(_ request: KeysMethods.Rotation, _ ways: [KeySlotSecret]) throws
    -> StoreReport
  {
    let isConfirmed = request.isConfirmed == true
    do {
      let renewal = try keychain.renewRootKeys(
        ways,
        deletingItemsOfAnotherDevice: request.deletesDeviceItems == true
          ? { _ in isConfirmed } : nil, for: actor)
      return StoreReport(
        removed: renewal.removedSlots.map { report($0, opens: .no) },
        waiting: renewal.itemsOfAnotherDevice, deleted: renewal.deletedItems,
        deviceKeyProblem: renewal.deviceKeyProblem,
        deviceKeyWritten: renewal.hasWrittenDeviceKey)
    } catch {
      guard error.status == .userCanceled else { throw error }
      throw CommandFailure(
        .usage, error.message, remedy: "--yes deletes them; nobody can bring them back then")
    }
  }

  /// What of a secret opens slots, and which. None of a key file that is not there: its slots are told
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
