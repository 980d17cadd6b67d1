// SPDX-License-Identifier: Apache-2.0

/// What a `ServiceBrowser` does at most, whatever is published on the network.
package struct ServiceLimits: Sendable, Equatable {
  /// Services known at a time. Others are looked at when one of these is lost. A home has some ten border routers.
  package var maximumServices: Int
  /// Changes of one service that are reported in a minute, its first record among them. Of more, the last is reported
  /// when the minute is over.
  package var changesPerMinute: Int
  /// Time after which services that were over the limit are looked for again.
  package var listingInterval: Duration
  /// Time after which a service that does not resolve is asked for again.
  package var retryInterval: Duration

  package init(
    maximumServices: Int = 200, changesPerMinute: Int = 10,
    listingInterval: Duration = .seconds(60), retryInterval: Duration = .seconds(300)
  ) {
    self.maximumServices = maximumServices
    self.changesPerMinute = changesPerMinute
    self.listingInterval = listingInterval
    self.retryInterval = retryInterval
  }
}
