// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What a person reads of an import.
extension StoreImportCommand {
  /// Conflicts that are listed for a person, and names of each kind that is left out.
  private static let listed = 20

  func text(_ report: Report) -> String {
    let outcome = report.outcome
    var text =
      "\(outcome.items) items are in the export of store \(outcome.storeID),"
      + " made \(outcome.created).\n"
    let count = outcome.notInExport.values.reduce(0, +)
    if count > 0 {
      text += "Not in it, because they were for another device only:\n"
      text += Accessibility.lines(outcome.notInExport)
    }
    if outcome.damagedThere > 0 {
      text += "Not in it, because they were damaged there: \(outcome.damagedThere)\n"
    }
    text +=
      leftOut(report, ImportedAccess.allCases.filter { !$0.comesNever })
      + leftOut(report, ImportedAccess.allCases.filter(\.comesNever)) + list(report)
    let isRefused = outcome.conflicts > 0 && onConflict == .refuse
    if !isRefused {
      text += dryRun ? "It would come to: " : ""
      text +=
        "\(outcome.added) added, \(outcome.replaced) replaced, \(outcome.kept) kept,"
        + " \(outcome.unchanged) already here.\n"
    }
    if !outcome.unknownHomes.isEmpty {
      text +=
        "Your settings do not name these homes, whose items wait until they do: "
        + outcome.unknownHomes.map(\.printable).joined(separator: ", ") + "\n"
    }
    return text + (dryRun ? "Nothing is changed.\n" : "")
  }

  /// Of some kinds, all of which are left out for the same reason.
  private func leftOut(_ report: Report, _ kinds: [ImportedAccess]) -> String {
    var text = ""
    for kind in kinds {
      guard let count = report.outcome.leftOut[kind.rawValue], count > 0 else { continue }
      text += "  \(kind.words(count))\n"
      let names = report.leftOut.filter { $0.what == kind }.map(\.name.printable)
      for name in names.prefix(Self.listed) { text += "    \(name)\n" }
      let rest = names.count - Self.listed
      if rest > 0 { text += "    and \(rest) more; --json lists all\n" }
    }
    guard !text.isEmpty else { return "" }
    let isOfThen = kinds.allSatisfy(\.comesNever)
    return
      (isOfThen
      ? "Left out, because it is of the keeper that was exported only:\n"
      : "Left out, because this store says itself who may have what is in it:\n") + text
  }

  private func list(_ report: Report) -> String {
    guard !report.conflicts.isEmpty else { return "" }
    var text = "Here already, with other contents:\n"
    for conflict in report.conflicts.prefix(Self.listed) {
      text += "  \(conflict.item.printable): \(conflict.differs.joined(separator: ", "))\n"
    }
    let rest = report.conflicts.count - Self.listed
    return text + (rest > 0 ? "  and \(rest) more; --json lists all\n" : "")
  }
}
