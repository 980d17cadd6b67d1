// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ThreadCredentialStore
import ThreadRequests

extension FormerNetworkRecord {
  package init(_ former: FormerNetwork) {
    self.init(
      id: former.id, networkName: former.networkName,
      extendedPANID: former.network?.description ?? "", channel: former.dataset?.channel?.number,
      activeTimestamp: former.dataset?.activeTimestamp?.seconds,
      until: former.until.date.formatted(.iso8601))
  }
}
