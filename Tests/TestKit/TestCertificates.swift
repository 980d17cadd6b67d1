import Foundation

/// An authority with a certificate for a broker on this machine and one for a client, and a second
/// authority that nobody knows. Made by `openssl`.
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
    try Data().write(to: URL(fileURLWithPath: "\(directory)/index.txt"))
    try Data(
      """
      [ca]
      default_ca = tests
      [tests]
      database = \(directory)/index.txt
      new_certs_dir = \(directory)
      rand_serial = yes
      unique_subject = no
      default_md = sha256
      policy = names
      [names]
      commonName = supplied
      """.utf8
    ).write(to: URL(fileURLWithPath: "\(directory)/ca.conf"))
    try authority("ca")
    try authority("strange")
    try certificate("server", "subjectAltName=IP:127.0.0.1,DNS:localhost")
    try certificate("other", "subjectAltName=DNS:broker.example")
    try certificate("client", "extendedKeyUsage=clientAuth")
  }

  /// One for all tests of this process, which only read it: to make it takes a dozen programs.
  package static func shared() throws -> TestCertificates { try made.get() }

  private static let made = Result {
    // It is never freed.
    atexit { _ = try? FileManager.default.removeItem(atPath: TestCertificates.shared().directory) }
    return try TestCertificates()
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  /// Certificates of a broker on this machine that no client should accept.
  package enum Unfit: String, CaseIterable, Sendable {
    case expired, notYetValid, selfSigned, unknownAuthority
    /// Signed by an authority that the known one has signed, and that is not shown.
    case missingIntermediate
  }

  /// Makes one.
  ///
  /// - Returns: the files of the certificate and its key.
  package func make(_ unfit: Unfit) throws -> (certificate: String, key: String) {
    let (name, place) = (unfit.rawValue, "subjectAltName=IP:127.0.0.1,DNS:localhost")
    let known = ["-cert", authority, "-keyfile", "\(directory)/ca.key"]
    switch unfit {
    case .expired:
      try request(name, place)
      try sign(name, known, from: "20000101000000Z", to: "20010101000000Z")
    case .notYetValid:
      try request(name, place)
      try sign(name, known, from: "20980101000000Z")
    case .selfSigned:
      let path = try request(name, place)
      try sign(name, ["-selfsign", "-keyfile", "\(path).key"])
    case .unknownAuthority:
      try request(name, place)
      try sign(name, ["-cert", strangeAuthority, "-keyfile", "\(directory)/strange.key"])
    case .missingIntermediate:
      let between = try request("between", "basicConstraints=critical,CA:TRUE")
      try sign("between", known)
      try request(name, place)
      try sign(name, ["-cert", "\(between).pem", "-keyfile", "\(between).key"])
    }
    return ("\(directory)/\(name).pem", "\(directory)/\(name).key")
  }

  private func authority(_ name: String) throws {
    let path = try request(name, "basicConstraints=critical,CA:TRUE")
    try sign(name, ["-selfsign", "-keyfile", "\(path).key"])
  }

  private func certificate(_ name: String, _ extension: String) throws {
    try request(name, `extension`)
    try sign(name, ["-cert", authority, "-keyfile", "\(directory)/ca.key"])
  }

  @discardableResult private func request(_ name: String, _ extension: String) throws -> String {
    let path = "\(directory)/\(name)"
    try Data(`extension`.utf8).write(to: URL(fileURLWithPath: "\(path).ext"))
    try Program.check(
      "openssl",
      [
        "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)",
        "-keyout", "\(path).key", "-out", "\(path).csr",
      ])
    return path
  }

  /// Valid whatever the clock says: one that is set back a second would refuse what was made now.
  private func sign(
    _ name: String, _ signer: [String], from start: String = "20000101000000Z", to end: String = "20991231235959Z"
  ) throws {
    let path = "\(directory)/\(name)"
    try Program.check(
      "openssl",
      ["ca", "-batch", "-notext", "-config", "\(directory)/ca.conf"] + signer + [
        "-startdate", start, "-enddate", end, "-in", "\(path).csr", "-extfile", "\(path).ext", "-out", "\(path).pem",
      ])
  }
}
