// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// A home within one transaction.
final class HomeContext {
  let record: HomeRecord
  /// Nil until it is read.
  var preferred: OperationalDataset??
  var changes: HomeChanges

  init(_ record: HomeRecord) {
    self.record = record
    changes = HomeChanges(movedTo: record.movedTo)
  }
}
