// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import ThreadRequests

/// What a person is asked: may this requester be told that?
package struct ConsentQuestion: Hashable, Sendable {
  /// Who asks, for whom, where and when, and where the answer goes.
  package var context: RequestContext
  /// What is fulfilled when somebody agrees.
  package var request: ThreadRequest
  /// Each once, the preferred one first; never empty.
  package var networks: [ConsentNetwork]

  package init(context: RequestContext, request: ThreadRequest, networks: [ConsentNetwork]) {
    self.context = context
    self.request = request
    self.networks = networks
  }
}
