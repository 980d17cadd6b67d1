// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An authority with a certificate for a broker on this machine and one for a client, and a second
/// authority that nobody knows. Made by `openssl`, for a day.
package final class TestCertificates: Sendable {
  package let directory: String

  package var authority: String { "\(directory)/ca.pem" }
  package var server: String { "\(directory)/server.pem" }
  package var serverKey: String { "\(directory)/server.key" }
  package var client: String { "\(directory)/client.pem" }
  package var clientKey: String { "\(directory)/client.key" }
  package var strangeAuthority: String { "\(directory)/strange.pem" }
  package var otherNameServer: String { "\(directory)/other.pem" }
  package var otherNameServerKey: String { "\(directory)/other.key" }

  package init() throws {
    directory = try TestBroker.temporaryDirectory()
    try authority("ca")
    try authority("strange")
    try certificate("server", "subjectAltName=IP:127.0.0.1,DNS:localhost")
    try certificate("other", "subjectAltName=DNS:broker.example")
    try certificate("client", "extendedKeyUsage=clientAuth")
  }

  deinit {
    try? FileManager.default.removeItem(atPath: directory)
  }

  private func authority(_ name: String) throws {
    try Program.check(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
        "1", "-subj", "/CN=\(name)", "-keyout", "\(directory)/\(name).key", "-out",
        "\(directory)/\(name).pem",
      ])
  }

  private func certificate(_ name: String, _ extension: String) throws {
    let path = "\(directory)/\(name)"
    try Data(`extension`.utf8).write(to: URL(fileURLWithPath: "\(path).ext"))
    try Program.check(
      "openssl",
      [
        "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
        "/CN=\(name)", "-keyout", "\(path).key", "-out", "\(path).csr",
      ])
    try Program.check(
      "openssl",
      [
        "x509", "-req", "-in", "\(path).csr", "-CA", authority, "-CAkey", "\(directory)/ca.key",
        "-CAcreateserial", "-days", "1", "-extfile", "\(path).ext", "-out", "\(path).pem",
      ])
  }
}
