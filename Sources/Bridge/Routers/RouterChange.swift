// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset

/// A router that is to be written. All that is true of it is decided again then: whether it is on the preferred
/// network, its adoption, and its alerts.
///
/// A class, because it is passed on a few times for every message, and a copy retains every text of two rows and an
/// event. Whoever makes it fills it; once it is an effect, nobody changes it.
final class RouterChange {
  /// What is stored for the router.
  enum Dataset {
    /// Not changed, so it is looked up; none where it is damaged.
    case unchanged
    case known(OperationalDataset?)
  }

  var router: RouterRecord
  /// As it is in its row; nil where it has none.
  let stored: RouterRecord?
  /// What the router's alerts name as the reason.
  let trigger: String
  var dataset = Dataset.unchanged
  /// What is published about it; without a type, only its state.
  var event: EventRecord

  init(
    _ router: RouterRecord, stored: RouterRecord?, trigger: String, now: WireTime
  ) {
    self.router = router
    self.stored = stored
    self.trigger = trigger
    event = EventRecord(time: now, home: router.home)
    event.router = router.agent
  }
}
