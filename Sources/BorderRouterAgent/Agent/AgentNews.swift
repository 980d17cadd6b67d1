// SPDX-License-Identifier: Apache-2.0

import MosquittoClient

/// What comes from the broker. What is wrong there is in words of the options that configure it.
package enum AgentNews: Sendable {
  case connected
  case disconnected
  /// The broker has not taken a publication.
  case refused(Publication, message: String)
  /// threadkeeper's answer to an event of this agent: at most one for each.
  case answered(EventOutcome)
  /// Anything else that is subscribed to.
  case message(IncomingMessage)
}
