// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("TLS", .timeLimit(.minutes(30)))
struct TLSTests {
  let certificates: TestCertificates
  let broker: TestBroker
  /// Asks for no certificate, asks for one, and shows a certificate for another name.
  let ports: (plain: UInt16, mutual: UInt16, otherName: UInt16)

  init() throws {
    let certificates = try TestCertificates()
    let ports = (
      plain: try UnusedPort.next(), mutual: try UnusedPort.next(),
      otherName: try UnusedPort.next()
    )
    func listener(_ port: UInt16, _ certificate: String, _ key: String) -> [String] {
      [
        "listener \(port) 127.0.0.1", "cafile \(certificates.authority)",
        "certfile \(certificate)", "keyfile \(key)",
      ]
    }
    let plain = listener(ports.plain, certificates.server, certificates.serverKey)
    let mutual = listener(ports.mutual, certificates.server, certificates.serverKey)
    let otherName = listener(
      ports.otherName, certificates.otherNameServer, certificates.otherNameServerKey)
    broker = try TestBroker(
      extraConfiguration: plain + mutual + ["require_certificate true"] + otherName)
    self.certificates = certificates
    self.ports = ports
  }

  func configuration(
    port: UInt16, ca: String? = nil, certificate: String? = nil, key: String? = nil
  ) -> MosquittoConfiguration {
    var configuration = broker.configuration(clientID: "keeper", "in/#")
    configuration.port = port
    configuration.tls = .init(
      caFile: ca ?? certificates.authority, certificateFile: certificate, keyFile: key)
    return configuration
  }

  @Test("With the right authority, messages go both ways, and a long backlog is drained")
  func works() async throws {
    let first = TestClient(configuration(port: ports.plain))
    try await first.ready()
    try await first.stop()
    let publisher = TestPublisher(
      MosquittoConfiguration(
        host: "localhost", port: ports.plain, clientID: "publisher",
        tls: .init(caFile: certificates.authority)))
    try await publisher.publish((0..<3000).map { Publication(topic: "in/\($0)", payload: [1]) })
    try await publisher.publish([
      Publication(topic: "in/large", payload: [UInt8](repeating: 7, count: 60_000))
    ])
    try await publisher.stop()
    let second = TestClient(configuration(port: ports.plain))
    try await eventually { second.handler.messageCount == 3001 }
    #expect(second.handler.messages.last?.payload == [UInt8](repeating: 7, count: 60_000))
    #expect(second.handler.record.disconnections.isEmpty)
    try await second.stop()
  }

  @Test("With a client certificate where the broker wants one")
  func clientCertificate() async throws {
    let client = TestClient(
      configuration(
        port: ports.mutual, certificate: certificates.client, key: certificates.clientKey))
    try await client.ready()
    #expect(client.handler.record.disconnections.isEmpty)
    try await client.stop()
  }

  @Test("Without one, the settings are named")
  func noClientCertificate() async throws {
    let error = try await ConnectionWordsTests.failure(configuration(port: ports.mutual))
    // With TLS 1.3 the broker refuses after the handshake. Where its end overtakes the alert, only the end is seen.
    #expect([.tlsClientCertificate, .closedByBroker].contains(error.reason), "\(error)")
    #expect(error.message.contains("`mqtt.tls.cert_file`"))
    #expect(error.message.contains("`mqtt.tls.key_file`"))
  }

  @Test("An authority that did not sign the broker's certificate: the setting is named")
  func strangeAuthority() async throws {
    let error = try await ConnectionWordsTests.failure(
      configuration(port: ports.plain, ca: certificates.strangeAuthority))
    #expect(error.reason == .tlsCertificate, "\(error)")
    #expect(error.message.contains("`mqtt.tls.ca_file`"))
  }

  @Test("A certificate for another name: the setting is named")
  func otherName() async throws {
    let error = try await ConnectionWordsTests.failure(configuration(port: ports.otherName))
    #expect(error.reason == .tlsHostName, "\(error)")
    #expect(error.message.contains("`mqtt.host`"))
  }

  @Test("Files that are missing, no PEM, or don't belong together are named")
  func files() async throws {
    let garbage = "\(certificates.directory)/garbage"
    try Data("no certificate".utf8).write(to: URL(fileURLWithPath: garbage))
    let cases: [(ca: String?, certificate: String?, key: String?, words: String)] = [
      ("/dev/null/ca.pem", nil, nil, "`mqtt.tls.ca_file` (/dev/null/ca.pem) can't be read"),
      (garbage, nil, nil, "`mqtt.tls.ca_file`"),
      (nil, garbage, certificates.clientKey, "`mqtt.tls.cert_file` holds no certificate"),
      (nil, certificates.client, garbage, "`mqtt.tls.key_file` holds no private key"),
      (nil, certificates.client, certificates.serverKey, "don't belong to each other"),
    ]
    for one in cases {
      let error = try await ConnectionWordsTests.failure(
        configuration(
          port: ports.mutual, ca: one.ca, certificate: one.certificate, key: one.key))
      #expect(error.reason == .tlsFiles, "\(error)")
      #expect(error.message.contains(one.words), "\(error)")
    }
  }

  @Test("A locked key file asks nobody for a passphrase")
  func lockedKey() async throws {
    let locked = "\(certificates.directory)/locked.key"
    try Program.check(
      "openssl",
      ["pkey", "-in", certificates.clientKey, "-aes256", "-passout", "pass:x", "-out", locked])
    let error = try await ConnectionWordsTests.failure(
      configuration(port: ports.mutual, certificate: certificates.client, key: locked))
    #expect(error.message.contains("passphrase"), "\(error)")
  }

  @Test("TLS to a port without, and no TLS to a port with it: both say which setting to look at")
  func mismatched() async throws {
    let toPlain = try await ConnectionWordsTests.failure(configuration(port: broker.port))
    #expect(toPlain.message.contains("TLS"), "\(toPlain)")
    var bare = configuration(port: ports.plain)
    bare.tls = nil
    let toTLS = try await ConnectionWordsTests.failure(bare)
    #expect(toTLS.message.contains("`mqtt.tls.ca_file`"), "\(toTLS)")
  }
}
