// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import ThreadkeeperDaemon

/// What a person reads of an import.
extension StoreImportCommand {
  /// Names of each kind that are listed for a person.
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
    if outcome.leftOut > 0 {
      let why =
        credentialsOnly
        ? "as --credentials-only says"
        : "because they belong to that daemon or machine only, or are unknown to this version"
      text += "Left out, \(why): \(outcome.leftOut)\n"
    }
    text += conflicts(report) + deletions(report)
    let isRefused = outcome.conflicts > 0 && onConflict == .refuse
    if !isRefused {
      text += access(report)
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
    return text + (dryRun ? "Nothing is changed.\n" : "")
  }

  private func access(_ report: Report) -> String {
    guard !report.clients.isEmpty || !report.consents.isEmpty else { return "" }
    return
      "These get access, as of \(report.outcome.created), when the export was made. Revoke again here who was"
      + " revoked since:\n" + lines(report.clients.map { "client " + $0 })
      + lines(report.consents.map { "consent " + $0 })
  }

  private func conflicts(_ report: Report) -> String {
    guard !report.conflicts.isEmpty else { return "" }
    return "Here already, with other contents:\n"
      + lines(report.conflicts.map { "\($0.item): \($0.differs.joined(separator: ", "))" })
  }

  /// In a list of its own: what goes for good must not hide among what is only different.
  private func deletions(_ report: Report) -> String {
    let names = report.conflicts.flatMap(\.removes)
    guard !names.isEmpty else { return "" }
    let heading =
      switch onConflict {
      case .replace: dryRun ? "Would be deleted" : "Deleted"
      case .refuse, .keep: "--on-conflict replace would delete these"
      }
    return heading + ", which give a border router to another team:\n" + lines(names)
  }

  private func lines(_ names: [String]) -> String {
    let rest = names.count - Self.listed
    return names.prefix(Self.listed).map { "  \($0.printable)\n" }.joined()
      + (rest > 0 ? "  and \(rest) more; --json lists all\n" : "")
  }
}
