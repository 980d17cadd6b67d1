// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit

/// A real Mosquitto with a password file, whose lines can be changed while it runs. A stop loses nothing.
final class PasswordBroker: Sendable {
  let broker: TestBroker
  private var file: String { "\(broker.directory)/passwords" }

  var port: UInt16 { broker.port }

  /// Lets the daemon's user in, and one who may read everything.
  init(_ user: String, _ password: String) throws {
    Recorder.current?.note("the password of \(user)", password)
    broker = try TestBroker(
      logins: [.init("monitor", role: .monitor), .init(user, role: .daemon, password: password)],
      persistence: true)
  }

  /// Gives a user another password, and has the broker read its file again: whoever is connected with
  /// the old one is thrown out.
  func setPassword(of user: String, to password: String) throws {
    Recorder.current?.note("a password of \(user)", password)
    try Program.check("mosquitto_passwd", ["-b", file, user, password])
    try reload()
  }

  func remove(_ user: String) throws {
    try Program.check("mosquitto_passwd", ["-D", file, user])
    try reload()
  }

  /// It takes connections and answers nobody, until `resume`.
  func pause() throws { try signal(SIGSTOP) }
  func resume() throws { try signal(SIGCONT) }

  private func reload() throws { try signal(SIGHUP) }

  private func signal(_ number: Int32) throws {
    let text = try String(contentsOfFile: "\(broker.directory)/mosquitto.pid", encoding: .utf8)
    guard let process = Int32(text.filter(\.isNumber)), kill(process, number) == 0 else {
      throw DaemonProcess.Unexpected(description: "the broker does not run")
    }
  }
}
