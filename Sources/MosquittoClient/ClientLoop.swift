// SPDX-License-Identifier: Apache-2.0

import Glibc

/// From connection to connection, for ever: the body of the client's thread.
final class ClientLoop {
  private let mailbox: ClientMailbox
  private let handler: any MosquittoHandler
  private var schedule = ReconnectSchedule()

  init(mailbox: ClientMailbox, handler: any MosquittoHandler) {
    self.mailbox = mailbox
    self.handler = handler
  }

  func run() {
    blockBrokenPipes()
    while !mailbox.makeSignal(), mailbox.stopRequest == nil {
      _ = report(ConnectionLoss(.system("pipe", EMFILE)), nil, mailbox.configuration)
    }
    while mailbox.stopRequest == nil {
      let configuration = mailbox.takeReconnect()
      switch connect(configuration) {
      case .stopped: break
      case .abandoned: return
      case .reconnect: continue
      case .lost(let loss, let acceptance):
        if let error = report(loss, acceptance, configuration) {
          return mailbox.finish(.failed(error))
        }
      }
    }
    mailbox.finish(.stopped)
  }

  /// libmosquitto writes to a socket that the broker may have closed, with TLS by write(2): an error is enough then.
  private func blockBrokenPipes() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  private func connect(_ configuration: MosquittoConfiguration) -> Connection.End {
    do throws(MosquittoError) {
      try configuration.check()
      return try Connection(
        configuration, mailbox: mailbox, handler: handler, isContested: schedule.isContested
      ).run()
    } catch {
      return .lost(ConnectionLoss(error), nil)
    }
  }

  /// Tells the handler and waits for the next attempt.
  ///
  /// - Returns: the error that ends the client: the configuration cannot work.
  private func report(
    _ loss: ConnectionLoss, _ accepted: ReconnectSchedule.Acceptance?,
    _ configuration: MosquittoConfiguration
  ) -> MosquittoError? {
    let wasContested = schedule.isContested
    let isSilent = loss.error.reason == .connectionLost
    let delay = schedule.lost(
      accepted, silently: isSilent, takenOver: loss.error.reason == .sessionTakenOver,
      configuration.reconnect, chance: Double.random(in: 0..<1))
    // It lived long enough, and was lost before its next tick.
    if wasContested, !schedule.isContested { handler.sessionRegained() }
    var error = loss.error
    if schedule.isContested, isSilent, accepted != nil {
      error = .silentTakeover
    } else if schedule.suspectsTakeover, isSilent {
      error = .suspectedTakeover(error)
    }
    handler.disconnected(
      MosquittoDisconnection(
        error: error, wasConnected: accepted != nil, failures: schedule.failures,
        retryDelay: error.isFatal ? nil : delay, cause: loss.cause))
    guard !error.isFatal else { return error }
    wait(delay)
    return nil
  }

  /// Waits, but not longer than until somebody wants something of us.
  private func wait(_ delay: Duration) {
    let deadline = ContinuousClock.now + delay
    while mailbox.stopRequest == nil, !mailbox.wantsReconnect {
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else { return }
      var descriptor = pollfd(fd: mailbox.signal.descriptor, events: Int16(POLLIN), revents: 0)
      // Without a signal nothing ends the wait, so that it looks by itself.
      let limit: Duration = descriptor.fd < 0 ? .milliseconds(250) : left
      poll(&descriptor, 1, min(left, limit).milliseconds)
      if descriptor.revents != 0 { mailbox.signal.clear() }
    }
  }
}

/// Why a connection ended, and what the handler threw if it was the handler.
struct ConnectionLoss: Error {
  var error: MosquittoError
  var cause: (any Error)?

  init(_ error: MosquittoError, cause: (any Error)? = nil) {
    self.error = error
    self.cause = cause
  }
}

extension Duration {
  /// Rounded up, for `poll`: a wait that ends a little early would only be followed by another.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    let value = seconds.multipliedReportingOverflow(by: 1000)
    guard !value.overflow, value.partialValue < Int64(Int32.max) - 1000 else { return .max }
    return max(0, Int32(value.partialValue + attoseconds / 1_000_000_000_000_000) + 1)
  }
}
