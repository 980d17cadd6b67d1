import Foundation
import TestKit
import Testing

@testable import Broker

@Suite("TLS", .timeLimit(.minutes(30))) struct TLSTests {
  let certificates: TestCertificates
  let broker: TestBroker
  /// Asks for no certificate, asks for one, and shows a certificate for another name.
  let ports: (plain: UInt16, mutual: UInt16, otherName: UInt16)

  init() throws {
    let certificates = try TestCertificates.shared()
    let ports = (plain: try UnusedPort.next(), mutual: try UnusedPort.next(), otherName: try UnusedPort.next())
    func listener(_ port: UInt16, _ certificate: String, _ key: String) -> [String] {
      ["listener \(port) 127.0.0.1", "cafile \(certificates.authority)", "certfile \(certificate)", "keyfile \(key)"]
    }
    let plain = listener(ports.plain, certificates.server, certificates.serverKey)
    let mutual = listener(ports.mutual, certificates.server, certificates.serverKey)
    let otherName = listener(ports.otherName, certificates.otherNameServer, certificates.otherNameServerKey)
    broker = try TestBroker(extraConfiguration: plain + mutual + ["require_certificate true"] + otherName)
    self.certificates = certificates
    self.ports = ports
  }

  func configuration(port: UInt16, ca: String? = nil, certificate: String? = nil, key: String? = nil)
    -> MosquittoConfiguration
  {
    var configuration = broker.configuration(clientID: "keeper", "in/#")
    configuration.port = port
    configuration.tls = .init(caFile: ca ?? certificates.authority, certificateFile: certificate, keyFile: key)
    return configuration
  }

  @Test("With the right authority, messages go both ways, and a long backlog is drained") func works() async throws {
    let first = TestClient(configuration(port: ports.plain))
    try await first.ready()
    try await first.stop()
    let large = Publication(topic: "in/large", payload: [UInt8](repeating: 7, count: 60_000))
    let publisher = TestPublisher(
      MosquittoConfiguration(
        host: "localhost", port: ports.plain, clientID: "publisher", tls: .init(caFile: certificates.authority)))
    try await publisher.publish((0..<3000).map { Publication(topic: "in/\($0)", payload: [1]) } + [large])
    let second = TestClient(configuration(port: ports.plain))
    try await eventually { second.handler.messageCount == 3001 }
    #expect(second.handler.messages.last?.payload == large.payload)
    #expect(second.record.disconnections.isEmpty)
  }

  @Test("With a client certificate where the broker wants one") func clientCertificate() async throws {
    let client = TestClient(
      configuration(port: ports.mutual, certificate: certificates.client, key: certificates.clientKey))
    try await client.ready()
    #expect(client.record.disconnections.isEmpty)
  }

  @Test("Why a certificate is not accepted is said, with what to do about it") func unfit() async throws {
    let certificates = try TestCertificates()
    let listeners = try TestCertificates.Unfit.allCases.map {
      (kind: $0, port: try UnusedPort.next(), files: try certificates.make($0))
    }
    let broker = try TestBroker(
      extraConfiguration: listeners.flatMap {
        ["listener \($0.port) 127.0.0.1", "certfile \($0.files.certificate)", "keyfile \($0.files.key)"]
      })
    let words: [TestCertificates.Unfit: [String]] = [
      .expired: ["has expired", "renew it on the broker", "clock says 2"],
      .notYetValid: ["is not valid yet", "clock right? It says 2"],
      .selfSigned: ["is signed by nobody else", "is not in `mqtt.tls.ca_file` ("],
      .unknownAuthority: ["nothing leads from", "put the authority's certificate there"],
      .missingIntermediate: ["nothing leads from", "`certfile` of mosquitto.conf"],
    ]
    for (kind, port, _) in listeners {
      var configuration = broker.configuration(clientID: "keeper")
      configuration.port = port
      configuration.tls = .init(caFile: certificates.authority)
      let error = try await ConnectionWordsTests.failure(configuration)
      #expect(error.reason == .tlsCertificate)
      for word in words[kind] ?? [] { #expect(error.message.contains(word), "\(kind): \(error)") }
    }
  }

  @Test("A clock that stands at 1970 is named as the cause") func clockAtZero() {
    let configuration = MosquittoConfiguration(
      host: "broker.lan", port: 8883, clientID: "a", tls: .init(caFile: "ca.pem"))
    let error = MosquittoError.certificate(
      CertificateFailure(code: 9, words: "certificate is not yet valid"), configuration, now: 60)
    #expect(error.message.contains("this machine's clock says 1970-01-01"))
    #expect(!error.message.contains("`mqtt.tls.ca_file`"))
  }

  @Test("What is wrong is named by the settings to look at, and by the file where there is one") func failures()
    async throws
  {
    let directory = try TemporaryDirectory()
    let (garbage, locked) = (directory.file("garbage"), directory.file("locked.key"))
    try Data("no certificate".utf8).write(to: URL(fileURLWithPath: garbage))
    let (own, key) = (certificates.client, certificates.clientKey)
    try Program.check("openssl", ["pkey", "-in", key, "-aes256", "-passout", "pass:x", "-out", locked])
    func files(ca: String? = nil, certificate: String? = nil, key: String? = nil) -> MosquittoConfiguration {
      configuration(port: ports.mutual, ca: ca, certificate: certificate, key: key)
    }
    var withoutTLS = configuration(port: ports.plain)
    withoutTLS.tls = nil
    let cases: [(MosquittoConfiguration, [MosquittoError.Reason], words: [String])] = [
      // With TLS 1.3 the broker refuses after the handshake. Where its end overtakes the alert, only the end is seen.
      (files(), [.tlsClientCertificate, .closedByBroker], ["`mqtt.tls.cert_file`", "`mqtt.tls.key_file`"]),
      // An authority that did not sign the broker's certificate, and a certificate for another name.
      (configuration(port: ports.plain, ca: certificates.strangeAuthority), [.tlsCertificate], ["`mqtt.tls.ca_file`"]),
      (configuration(port: ports.otherName), [.tlsHostName], ["`mqtt.host`"]),
      // Files that are missing, no PEM, or don't belong together.
      (files(ca: "/dev/null/ca.pem"), [.tlsFiles], ["`mqtt.tls.ca_file` (/dev/null/ca.pem) can't be read"]),
      (files(ca: garbage), [.tlsFiles], ["`mqtt.tls.ca_file`"]),
      (files(certificate: garbage, key: key), [.tlsFiles], ["`mqtt.tls.cert_file` holds no certificate"]),
      (files(certificate: own, key: garbage), [.tlsFiles], ["`mqtt.tls.key_file` holds no private key"]),
      (files(certificate: own, key: certificates.serverKey), [.tlsFiles], ["don't belong to each other"]),
      // A locked key file asks nobody for a passphrase.
      (files(certificate: own, key: locked), [], ["passphrase"]),
      // TLS to a port without, and no TLS to a port with it.
      (configuration(port: broker.port), [], ["TLS"]), (withoutTLS, [], ["`mqtt.tls.ca_file`"]),
    ]
    for (configuration, reasons, words) in cases {
      let error = try await ConnectionWordsTests.failure(configuration)
      #expect(reasons.isEmpty || reasons.contains(error.reason), "\(error)")
      for word in words { #expect(error.message.contains(word), "\(error)") }
    }
  }
}
