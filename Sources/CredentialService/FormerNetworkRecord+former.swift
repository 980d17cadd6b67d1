// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadRequests

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension FormerNetworkRecord {
  package init(_ former: FormerNetwork) {
    self.init(
      id: former.id, networkName: former.networkName,
      extendedPANID: former.network?.description ?? "", channel: former.dataset?.channel?.number,
      activeTimestamp: former.dataset?.activeTimestamp?.seconds,
      until: former.until.date.formatted(.iso8601))
  }
}
