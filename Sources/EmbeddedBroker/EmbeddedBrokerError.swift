// SPDX-License-Identifier: Apache-2.0

import BrokerAccess
import Glibc

/// Why the private broker is not there, in words that say what to do.
package struct EmbeddedBrokerError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Reason: String, Sendable {
    case programMissing = "program_missing"
    case directory
    case alreadyRunning = "already_running"
    case portTaken = "port_taken"
    case notReady = "not_ready"
    case died
    case accessList = "access_list"
    case password
    case system
  }

  package var reason: Reason
  package var message: String

  package var description: String { message }

  init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  static func programMissing(_ name: String, package: String) -> EmbeddedBrokerError {
    EmbeddedBrokerError(
      .programMissing,
      "`mqtt.host: embedded` needs the program `\(name)`, which is not installed "
        + "(`apt install \(package)`); or name the broker you have in `mqtt.host`")
  }

  static func file(_ path: String, _ doing: String, _ code: Int32) -> EmbeddedBrokerError {
    EmbeddedBrokerError(.directory, "can't \(doing) `\(path)`: \(errorText(code))")
  }

  static func foreignDirectory(_ path: String, owner: UInt32) -> EmbeddedBrokerError {
    EmbeddedBrokerError(
      .directory,
      "can't use the directory `\(path)`: it belongs to user \(owner). Run threadkeeper as that user, or "
        + "remove the directory or name another with --state-directory")
  }

  static func alreadyRunning(_ directory: String) -> EmbeddedBrokerError {
    EmbeddedBrokerError(
      .alreadyRunning,
      "the private broker of `\(directory)` already runs for another process: stop that one first")
  }

  static func portTaken(_ port: UInt16, log: String) -> EmbeddedBrokerError {
    EmbeddedBrokerError(
      .portTaken,
      "the private broker can't listen on 127.0.0.1:\(port): another program does\(tail(log))")
  }

  static func notReady(_ seconds: Int64, log: String) -> EmbeddedBrokerError {
    EmbeddedBrokerError(
      .notReady, "the private broker takes no connection after \(seconds) s\(tail(log))")
  }

  static func died(_ how: String, log: String) -> EmbeddedBrokerError {
    EmbeddedBrokerError(.died, "the private broker has ended (\(how))\(tail(log))")
  }

  static func password(_ message: String) -> EmbeddedBrokerError {
    EmbeddedBrokerError(.password, message)
  }

  static func accessList(_ error: AccessListError) -> EmbeddedBrokerError {
    EmbeddedBrokerError(.accessList, error.message)
  }

  static func system(_ call: String, _ code: Int32) -> EmbeddedBrokerError {
    EmbeddedBrokerError(.system, "\(call) failed: \(errorText(code))")
  }

  /// One line: commands and logs print what ends one as an escape. Without the lines about clients: who knows the
  /// daemon's client id can take its session.
  private static func tail(_ log: String) -> String {
    let lines = log.split(whereSeparator: \.isNewline).filter {
      !$0.lowercased().contains("client")
    }
    return lines.isEmpty ? "" : ". Its log ends with: \(lines.joined(separator: " / "))"
  }

  private static func errorText(_ code: Int32) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }
}
