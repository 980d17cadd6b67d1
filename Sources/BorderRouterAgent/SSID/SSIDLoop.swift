// SPDX-License-Identifier: Apache-2.0

import Logging
import MosquittoClient
import SealedEnvelope

/// The thread of an agent: it asks the source and the link, and does what the machine decides.
struct SSIDLoop {
  private let configuration: SSIDConfiguration
  private let link: BrokerLink
  private let logger: Logger
  private let stop: StopSignal
  private let start = ContinuousClock.now
  private var reader: SSIDReader
  private var machine: SSIDMachine
  private var writer: SSIDWriter
  private var error: MosquittoError?

  init(_ configuration: SSIDConfiguration, link: BrokerLink, logger: Logger, stop: StopSignal) {
    self.configuration = configuration
    self.link = link
    self.logger = logger
    self.stop = stop
    reader = SSIDReader(configuration.source, timeout: configuration.timeout, signal: stop)
    machine = SSIDMachine(configuration.subject)
    writer = configuration.writer
  }

  private var now: Duration { start.duration(to: .now) }

  /// - Returns: what can never work with the broker; nil when it was stopped.
  mutating func run() -> MosquittoError? {
    link.connect(configuration.connection)
    var next = now
    while !stop.isRaised, error == nil {
      if now >= next {
        if let reading = reader.look() { perform(machine.handle(.looked(reading), at: now)) }
        next = now + configuration.interval
      }
      readNews()
      guard !stop.isRaised, error == nil else { break }
      StopSignal.wait(for: [stop, link.wake], within: next - now)
    }
    return error
  }

  private mutating func readNews() {
    for news in link.takeNews() {
      switch news {
      case .connected:
        logger.info("connected to the broker")
        perform(machine.handle(.connected, at: now))
      case .disconnected(let event):
        logger.warning("\(configuration.brokerWords(event.error))")
        perform(machine.handle(.disconnected, at: now))
      case .refused(_, let refusal):
        perform(
          machine.handle(
            .rejected(code: "refused", message: configuration.brokerWords(refusal)), at: now))
      case .notSubscribed(let refusal):
        logger.warning(
          "the broker refuses \(refusal.filter): \(configuration.brokerWords(refusal.error))")
      case .message(let message):
        // A late answer to an earlier SSID says nothing of the latest one.
        guard !message.isRetained, let outcome = EventOutcome(message), outcome.kind == .ssid,
          outcome.token == writer.lastSequence
        else { continue }
        let event =
          outcome.code.map { SSIDMachine.Event.rejected(code: $0, message: outcome.message ?? "") }
          ?? .accepted
        perform(machine.handle(event, at: now))
      case .failed(let failure): error = failure
      }
    }
  }

  private mutating func perform(_ effects: [SSIDMachine.Effect]) {
    for effect in effects {
      switch effect {
      case .log(let note) where note.level == .warning: logger.warning("\(note.text)")
      case .log(let note): logger.info("\(note.text)")
      case .publish(let ssid, let isRepetition): publish(ssid, isRepetition)
      }
    }
  }

  private mutating func publish(_ ssid: SSID, _ isRepetition: Bool) {
    let expiry =
      isRepetition ? UInt32(SSIDMachine.Pause.unanswered.components.seconds) : nil
    do throws(SealingError) {
      link.publish(
        try writer.publication(of: ssid, expiry: expiry, now: nanosecondsSince1970()))
    } catch {
      logger.error("the SSID can't be sealed: \(error.message)")
    }
  }
}
