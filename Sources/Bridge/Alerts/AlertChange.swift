// SPDX-License-Identifier: Apache-2.0

import Broker

/// What has become of an alert.
struct AlertChange {
  /// What is published.
  struct News {
    /// `alertRaised`, `alertUpdated` or `alertResolved`.
    let type: OutboundEventTypes
    let alert: AlertRecord
    /// Where the severity has changed since it was published last.
    var previousSeverity: AlertName.Severity?
  }

  /// Whether it is held or fires now.
  let isActive: Bool
  /// Nil where there is nothing to publish.
  var news: News?

  var effects: [Effect] { news.map { [.alertChanged($0)] } ?? [] }
}
