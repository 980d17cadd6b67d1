// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// A home within one transaction.
final class HomeContext {
  let record: HomeRecord
  /// Loaded when it is first asked for.
  var preferred: OperationalDataset??
  /// It changed within this transaction, so a walk that began before must begin anew.
  var isPreferredNew = false
  /// The keys of the preferred network may be disputed now, or no more.
  var needsKeyLook = false
  /// Something changed that an alert of the home may be about.
  var hasChangedRouters = false
  /// The network that all members of the preferred network are on instead.
  var movedTo: ExtendedPANID?
  /// Routers came or went between networks without a look at where the home is.
  var needsMoveLook = false
  /// Alerts of routers may have to go or to come back.
  var needsWalk = false
  /// A router came or went, or the preferred network changed.
  var needsLook = false
  /// Routers that joined less those that left.
  var routersChange = 0
  /// Users whose unsealed datasets were noted within this transaction.
  var plaintextUsers: Set<String> = []

  init(_ record: HomeRecord) {
    self.record = record
    movedTo = record.movedTo
  }
}
