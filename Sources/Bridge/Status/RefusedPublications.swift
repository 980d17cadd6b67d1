// SPDX-License-Identifier: Apache-2.0

import Broker
import Logging
import Synchronization

/// What the broker refuses of all that the daemon publishes: shown by the monitor, and logged once for each reason.
///
/// There is a device of Home Assistant for each router, and the broker's access list is most likely older than they
/// are: a refusal of devices is noted once for all of them.
final class RefusedPublications: Sendable {
  private struct State {
    var topics = RefusedTopics()
    var devices: [UInt64: HomeAssistantAnswer] = [:]
    var warnedReasons: Set<MosquittoError.Reason> = []
    /// Remedies that the log has named since devices are refused.
    var warnedOfDevices: Set<Warning> = []
  }

  private struct Warning: Hashable {
    let isRemoval: Bool
    let remedy: String
  }

  private let monitor: BridgeMonitor
  private let devices: [String]
  private let logger: Logger
  private let state = Mutex(State())

  /// - Parameter devices: filters of the topics where devices are announced.
  init(monitor: BridgeMonitor, devices: [String], logger: Logger) {
    self.monitor = monitor
    self.devices = devices.map { String($0.prefix { $0 != "+" }) }
    self.logger = logger
  }

  /// A connection was made, or has ended: the broker may have another mind.
  func restart() {
    state.withLock {
      $0.topics.restart()
      $0.devices.removeAll()
    }
    monitor.update {
      $0.refusals = nil
      $0.refusedDevices = nil
    }
  }

  /// Notes what is on its way.
  ///
  /// - Returns: the same, each with a token.
  func send(_ publications: [Publication]) -> [Publication] {
    state.withLock { state in
      let sent = state.topics.send(publications)
      for publication in sent where isDevice(publication.topic) {
        state.topics.forget(publication.token)
        state.devices[publication.token] =
          publication.payload.isEmpty
          ? .removal(topic: publication.topic) : .device(topic: publication.topic)
      }
      return sent
    }
  }

  private func isDevice(_ topic: String) -> Bool {
    devices.contains { topic.utf8.starts(with: $0.utf8) }
  }

  /// - Returns: whether the access list lets the daemon do what it did not before: then all is to be published again.
  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) -> Bool {
    if case .refused = outcome { monitor.update { $0.publicationsRefused += 1 } }
    if let device = state.withLock({ $0.devices.removeValue(forKey: token) }) {
      note(outcome, of: device)
      return false
    }
    let (isRegained, report) = state.withLock { state in
      let isRegained = state.topics.acknowledge(token, outcome)
      if isRegained { state.warnedReasons.removeAll() }
      return (isRegained, state.topics.report)
    }
    monitor.update { $0.refusals = report }
    switch outcome {
    case .refused(let error):
      guard state.withLock({ $0.warnedReasons.insert(error.reason).inserted }) else { break }
      logger.error("the broker refuses publications", metadata: ["reason": "\(error.message)"])
    case .delivered:
      if isRegained { logger.notice("the broker takes again what it has refused") }
    }
    return isRegained
  }

  private func note(_ outcome: PublicationOutcome, of answer: HomeAssistantAnswer) {
    switch outcome {
    case .delivered:
      let isRemoval = if case .removal = answer { true } else { false }
      monitor.update { if $0.refusedDevices?.isRemoval == isRemoval { $0.refusedDevices = nil } }
      let wasWarned = state.withLock { state in
        let before = state.warnedOfDevices.count
        state.warnedOfDevices = state.warnedOfDevices.filter { $0.isRemoval != isRemoval }
        return state.warnedOfDevices.count < before
      }
      guard wasWarned else { return }
      logger.notice(
        isRemoval
          ? "the broker lets devices of Home Assistant be removed again"
          : "the broker takes the devices of Home Assistant again")
    case .refused(let error):
      let refused = monitor.update {
        let refused = RefusedDevices(answer, error, count: ($0.refusedDevices?.count ?? 0) + 1)
        $0.refusedDevices = refused
        return refused
      }
      let warning = Warning(isRemoval: refused.isRemoval, remedy: refused.remedy)
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
