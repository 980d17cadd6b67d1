// SPDX-License-Identifier: Apache-2.0

import Broker

/// What the broker answers to the devices of Home Assistant. There is one for each router, so a refusal is noted once
/// and not for each: the broker's access list is most likely older than they are.
extension StatusConnection {
  func note(_ outcome: PublicationOutcome, of answer: HomeAssistantAnswer) {
    switch outcome {
    case .delivered:
      let isRemoval = if case .removal = answer { true } else { false }
      monitor.update { if $0.refusedDevices?.isRemoval == isRemoval { $0.refusedDevices = nil } }
      let warned = state.withLock { state in
        defer {
          state.warnedOfDevices.subtract(state.warnedOfDevices.filter { $0.isRemoval == isRemoval })
        }
        return state.warnedOfDevices.contains { $0.isRemoval == isRemoval }
      }
      guard warned else { return }
      logger.notice(
        isRemoval
          ? "the broker lets devices of Home Assistant be removed again"
          : "the broker takes the devices of Home Assistant again")
    case .refused(let error):
      let refused = RefusedDevices(
        answer, error, count: (monitor.snapshot.refusedDevices?.count ?? 0) + 1)
      monitor.update {
        $0.publicationsRefused += 1
        $0.refusedDevices = refused
      }
      let warning = DeviceWarning(isRemoval: refused.isRemoval, remedy: refused.remedy)
      guard state.withLock({ $0.warnedOfDevices.insert(warning).inserted }) else { return }
      logger.warning(
        "the broker refuses a device of Home Assistant",
        metadata: [
          "topic": "\(refused.topic)", "reason": "\(refused.problem)",
          "remedy": "\(refused.remedy)",
        ])
    }
  }
}

/// A line of the log about refused devices, until the broker takes them.
struct DeviceWarning: Hashable, Sendable {
  let isRemoval: Bool
  let remedy: String
}
