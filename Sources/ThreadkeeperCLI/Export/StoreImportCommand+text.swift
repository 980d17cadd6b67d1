// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import ThreadkeeperDaemon

/// What a person reads of an import.
extension StoreImportCommand {
  /// Conflicts that are listed for a person, and names of each kind.
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
    for reason in ImportedAccess.Reason.allCases { text += stayedOut(report, reason) }
    text += list(report) + deletions(report)
    let isRefused = outcome.conflicts > 0 && onConflict == .refuse
    if !isRefused {
      text += takenOver(report)
      text += dryRun ? "It would come to: " : ""
      text +=
        "\(outcome.added) added, \(outcome.replaced) replaced, \(outcome.kept) kept,"
        + " \(outcome.unchanged) already here"
        + (outcome.deleted > 0 ? ", \(outcome.deleted) deleted.\n" : ".\n")
    }
    if !outcome.unknownHomes.isEmpty {
      text +=
        "Your settings do not name these homes, whose items wait until they do: "
        + outcome.unknownHomes.map(\.printable).joined(separator: ", ") + "\n"
    }
    if report.unread > 0 {
      text +=
        "Of what the running daemon names, \(report.unread) cannot be read here: is it of another version?\n"
    }
    return text + (dryRun ? "Nothing is changed.\n" : "")
  }

  private func stayedOut(_ report: Report, _ reason: ImportedAccess.Reason) -> String {
    let kinds = ImportedAccess.allCases.filter { $0.reason == reason }
    let lines = lines(of: kinds, report.outcome.stayedOut, report.stayedOut)
    return lines.isEmpty ? "" : reason.heading + "\n" + lines + (reason.remedy ?? "")
  }

  private func takenOver(_ report: Report) -> String {
    let outcome = report.outcome
    var text = ""
    let lines = lines(of: ImportedAccess.allCases, outcome.takenOver, report.takenOver)
    if !lines.isEmpty {
      text +=
        "Taken over as of \(outcome.created), when the export was made. Revoke again here who was"
        + " revoked since:\n" + lines
    }
    if outcome.replacesKeys {
      text +=
        "The keys that this daemon has shown so far, and enrolled nobody with, go: who has their line needs"
        + " that of `threadkeeper clients fingerprint` anew.\n"
    }
    return text
  }

  private func lines(
    of kinds: [ImportedAccess], _ counts: [String: Int], _ items: [ImportList.Access]
  ) -> String {
    var text = ""
    for kind in kinds {
      guard let count = counts[kind.rawValue], count > 0 else { continue }
      text += "  \(kind.words(count))\n"
      let names = items.filter { $0.what == kind }.map(\.name.printable)
      for name in names.prefix(Self.listed) { text += "    \(name)\n" }
      let rest = names.count - Self.listed
      if rest > 0 { text += "    and \(rest) more; --json lists all\n" }
    }
    return text
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

  /// In a list of its own: what goes for good must not hide among what is only different.
  private func deletions(_ report: Report) -> String {
    let names = report.conflicts.flatMap(\.removes)
    guard !names.isEmpty else { return "" }
    let why = "which cannot stay beside what comes in:\n"
    var text =
      switch onConflict {
      case .replace: (dryRun ? "Would be deleted, " : "Deleted, ") + why
      case .refuse, .keep: "--on-conflict replace would delete these, " + why
      }
    for name in names.prefix(Self.listed) { text += "  \(name.printable)\n" }
    let rest = names.count - Self.listed
    return text + (rest > 0 ? "  and \(rest) more; --json lists all\n" : "")
  }
}
