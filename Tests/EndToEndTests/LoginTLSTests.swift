// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("The broker's password over TLS", .inTurns, .timeLimit(.minutes(30)))
struct LoginTLSTests {
  private static let password = "Sesame-tls-51f0"

  private let certificates: TestCertificates
  private let broker: TestBroker
  private let port: UInt16

  init() throws {
    certificates = try TestCertificates()
    port = try UnusedPort.next()
    broker = try TestBroker(
      logins: [.init("keeper", role: .daemon, password: Self.password)],
      extraConfiguration: [
        "listener \(port) 127.0.0.1", "cafile \(certificates.authority)",
        "certfile \(certificates.server)", "keyfile \(certificates.serverKey)",
      ])
  }

  private func installation(authority: String? = nil) throws -> Installation {
    try Installation(
      port: port,
      mqtt: ["username: keeper", "tls:", "  ca_file: \(authority ?? certificates.authority)"])
  }

  private func login(_ password: String, _ installation: Installation) async throws
    -> ThreadkeeperBinary.Outcome
  {
    try await installation.serving {
      try await ThreadkeeperBinary.run(
        ["login", "--password-stdin", "--json", "--config", installation.configuration],
        input: .text(password + "\n"), environment: installation.environment)
    }
  }

  /// Where `status` says that the password comes from.
  private func passwordSource(_ installation: Installation) async throws -> JSON? {
    try await installation.serving {
      try await installation.json("status")["login"]?["password_from"]
    }
  }

  @Test("Right: it is stored for TLS, and `run` gets in with it")
  func right() async throws {
    let installation = try installation()
    let answer = try await login(Self.password, installation)
    #expect(answer.status == 0, "\(answer.error)")
    #expect(JSON(answer.output)?["stored"] == "added")
    let daemon = try await installation.start()
    #expect(try await installation.json("status")["login"]?["password_from"] == "keychain")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A broker whose certificate has no known authority gets no password, and nothing is stored")
  func unknownAuthority() async throws {
    let installation = try installation(authority: certificates.strangeAuthority)
    let answer = try await login(Self.password, installation)
    #expect(answer.status == 69, "\(answer.error)")
    #expect(answer.error.contains("certificate"))
    #expect(!answer.error.contains(Self.password))
    #expect(try await passwordSource(installation) == "none")
  }
}
