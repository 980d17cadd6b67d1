// SPDX-License-Identifier: Apache-2.0

import MosquittoClient

/// What the broker answers to the devices of Home Assistant. There is one for each router, so a refusal is noted once
/// and not for each: the broker's access list is most likely older than they are.
extension StatusConnection {
  func note(_ outcome: PublicationOutcome, of answer: HomeAssistantAnswer) {
    switch outcome {
    case .delivered:
      guard case .device = answer, let refused = monitor.snapshot.refusedDevices,
        !refused.isRemoval
      else { return }
      monitor.update { $0.refusedDevices = nil }
      state.withLock { _ = $0.warnedOfDevices.remove(refused.remedy) }
      logger.notice("the broker takes the devices of Home Assistant again")
    case .refused(let error):
      let refused = RefusedDevices(
        answer, error, count: (monitor.snapshot.refusedDevices?.count ?? 0) + 1)
      monitor.update {
        $0.publicationsRefused += 1
        $0.refusedDevices = refused
      }
      guard state.withLock({ $0.warnedOfDevices.insert(refused.remedy).inserted }) else { return }
      logger.error(
        "the broker refuses a device of Home Assistant",
        metadata: [
          "topic": "\(refused.topic)", "reason": "\(refused.problem)",
          "remedy": "\(refused.remedy)",
        ])
    }
  }
}
