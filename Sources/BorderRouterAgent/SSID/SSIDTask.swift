// SPDX-License-Identifier: Apache-2.0

import MosquittoClient
import SealedEnvelope

/// Publishes the SSID of an access point: at the start, and when it changes.
///
/// ```
///  command, nmcli, iw, hostapd.conf ◀── SSIDReader ──▶ SSIDMachine ──▶ SSIDWriter ──▶ broker
///                                                           ▲                           │
///                                                           └───── EventOutcome ◀───────┘
/// ```
struct SSIDTask: AgentTask {
  private let configuration: SSIDConfiguration
  private let context: AgentContext
  private var reader: SSIDReader
  private var machine: SSIDMachine
  private var writer: SSIDWriter

  init(_ configuration: SSIDConfiguration, _ context: AgentContext) {
    self.configuration = configuration
    self.context = context
    reader = SSIDReader(configuration.source, timeout: configuration.timeout, signal: context.stop)
    machine = SSIDMachine(configuration.subject)
    writer = configuration.writer
  }

  var pause: Duration { configuration.interval }

  func start() { context.connect(configuration.connection) }

  mutating func look() {
    if let reading = reader.look() { decide(on: .looked(reading)) }
  }

  mutating func handle(_ news: AgentNews) {
    switch news {
    case .connected:
      decide(on: .connected)
      look()
    case .disconnected: decide(on: .disconnected)
    case .refused(_, let message): decide(on: .rejected(code: "refused", message: message))
    case .answered(let outcome):
      // A late answer to an earlier SSID says nothing of the latest one.
      guard outcome.kind == .ssid, outcome.token == writer.lastSequence else { return }
      decide(
        on: outcome.code.map { .rejected(code: $0, message: outcome.message ?? "") } ?? .accepted)
    case .message: break
    }
  }

  func finish() -> [Publication] { [] }

  private mutating func decide(on event: SSIDMachine.Event) {
    for effect in machine.handle(event, at: context.now) {
      switch effect {
      case .log(let note): context.log(note)
      case .publish(let ssid, let isRepetition): publish(ssid, isRepetition)
      }
    }
  }

  private mutating func publish(_ ssid: SSID, _ isRepetition: Bool) {
    let expiry = isRepetition ? UInt32(SSIDMachine.Pause.unanswered.components.seconds) : nil
    let event = context.event(.ssid) { () throws(SealingError) in
      try writer.publication(of: ssid, expiry: expiry, now: nanosecondsSince1970())
    }
    if let event { context.publish(event) }
  }
}
