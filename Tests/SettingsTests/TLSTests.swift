// SPDX-License-Identifier: Apache-2.0

import Foundation
import Settings
import Testing

struct TLSTests {
  let directory: ConfigurationDirectory

  init() throws {
    directory = try ConfigurationDirectory()
    for name in ["ca.pem", "cert.pem", "key.pem"] { try directory.write("x", to: name) }
  }

  private func result(_ tls: String, host: String = "b") throws -> SettingsResult {
    try directory.write("mqtt: {host: \(host), tls: {\(tls)}}", to: "threadkeeper.yaml")
    return directory.load()
  }

  @Test("Paths are relative to the file, and TLS moves the port")
  func complete() throws {
    let tls = "ca_file: ca.pem, cert_file: ./cert.pem, key_file: key.pem"
    let settings = try #require(try result(tls).settings)
    let path = directory.path
    #expect(
      settings.mqtt.tls
        == .init(
          caFile: "\(path)/ca.pem", certFile: "\(path)/cert.pem", keyFile: "\(path)/key.pem"))
    #expect(settings.mqtt.port == 8883)
    #expect(try result("").settings?.mqtt.tls == nil)
    #expect(try result("").settings?.mqtt.port == 1883)
  }

  @Test("A port that is given stays")
  func givenPort() throws {
    try directory.write(
      "mqtt: {host: b, port: 1883, tls: {ca_file: ca.pem}}", to: "threadkeeper.yaml")
    #expect(directory.load().settings?.mqtt.port == 1883)
  }

  @Test("Half a client certificate, or one without an authority, is refused")
  func halves() throws {
    let messages = [
      "ca_file: ca.pem, cert_file: cert.pem": "mqtt.tls.cert_file: needs `mqtt.tls.key_file`",
      "ca_file: ca.pem, key_file: key.pem": "mqtt.tls.key_file: needs `mqtt.tls.cert_file`",
      "cert_file: cert.pem, key_file: key.pem": "mqtt.tls.cert_file: needs `mqtt.tls.ca_file`",
    ]
    for (tls, message) in messages {
      let problems = try result(tls).problems
      #expect(problems.count == 1)
      #expect(problems.first?.message.hasPrefix(message) == true)
      #expect(problems.first?.line == 1)
    }
  }

  @Test("A file that is not there, or is a directory, is named")
  func missingFile() throws {
    let missing = try result("ca_file: nothing.pem").problems
    #expect(missing.count == 1)
    #expect(
      missing.first?.message
        == "mqtt.tls.ca_file: `\(directory.path)/nothing.pem` cannot be read: No such file or "
        + "directory")
    let folder = try result("ca_file: .").problems
    #expect(folder.first?.message.hasSuffix("is not a file") == true)
  }

  @Test("A private key that others may read is a warning")
  func openKey() throws {
    try directory.write("x", to: "key.pem", mode: 0o644)
    let result = try result("ca_file: ca.pem, cert_file: cert.pem, key_file: key.pem")
    #expect(result.settings != nil)
    #expect(result.problems.map(\.severity) == [.warning])
    #expect(result.problems.first?.key == "mqtt.tls.key_file")
  }

  @Test("`~/` is the home directory; nothing else with `~` is")
  func home() throws {
    try directory.write("mqtt: {host: b, tls: {ca_file: ~/ca.pem}}", to: "threadkeeper.yaml")
    let found = directory.load(["HOME": directory.path])
    #expect(found.settings?.mqtt.tls?.caFile == "\(directory.path)/ca.pem")
    #expect(directory.load().problems.count == 1)
    #expect(try result("ca_file: ~ada/ca.pem").problems.count == 1)
  }
}
