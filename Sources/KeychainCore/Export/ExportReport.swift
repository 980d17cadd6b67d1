// SPDX-License-Identifier: Apache-2.0

/// What an export came to.
package struct ExportReport: Equatable, Sendable {
  package var store: StoreID
  /// That are in it.
  package var items = 0
  /// Rows that do not open: they are not in it.
  package var damaged = 0
  /// Not in it, because they are for this device only.
  package var notInExport: [Accessibility: Int] = [:]
  /// Bytes of the file.
  package var bytes = 0

  package init(store: StoreID) { self.store = store }
}
