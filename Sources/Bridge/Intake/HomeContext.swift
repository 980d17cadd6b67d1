// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// A home within one transaction.
final class HomeContext {
  let record: HomeRecord
  /// Loaded when it is first asked for.
  var preferred: OperationalDataset??
  /// It changed within this transaction, so a walk that began before must begin anew.
  var isPreferredNew = false
  /// A router came or went, or the preferred network changed.
  var needsLook = false
  /// Routers that joined less those that left.
  var routersChange = 0
  /// Users whose unsealed datasets were noted within this transaction.
  var plaintextUsers: Set<String> = []

  init(_ record: HomeRecord) {
    self.record = record
  }
}
