// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient

extension BatchApplier {
  /// Publishes what became of an event to the publisher that asked for it.
  ///
  /// - Parameter rejection: nil when the event was acted upon, or had come before.
  func answer(_ rejection: Rejection?, _ origin: InboundMessage.Origin) {
    guard let address = origin.answer else { return }
    outcome.answers.append(
      .publication(
        Publication(
          topic: address.topic, payload: WireJSON().encode(EventAnswer(rejection)),
          contentType: "application/json", correlationData: address.correlation),
        expires: now.adding(seconds: Int(RequestReader.patience))))
  }
}
