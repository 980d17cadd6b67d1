import CLibMosquitto
import Glibc

/// What OpenSSL found about the broker's certificate, of which libmosquitto keeps only that it failed.
///
/// libmosquitto brings OpenSSL into this process, and shows its connection there (`mosquitto_ssl_get`), which it frees
/// with its socket. So it has to be asked while the library logs the failure.
struct CertificateFailure {
  /// Of X509_STORE_CTX_get_error(3).
  var code: Int
  /// OpenSSL's for it.
  var words: String

  init(code: Int, words: String) {
    self.code = code
    self.words = words
  }

  /// Nil where nothing failed, or the library is built with another TLS.
  init?(of handle: OpaquePointer) {
    guard let library = OpenSSL.loaded, let connection = mosquitto_ssl_get(handle) else { return nil }
    let code = library.result(connection)
    guard code != 0 else { return nil }
    self.init(code: code, words: library.words(code).map { String(cString: $0) } ?? "error \(code)")
  }
}

/// Two functions of the OpenSSL that is in this process.
private struct OpenSSL: Sendable {
  let result: @convention(c) (UnsafeRawPointer) -> Int
  let words: @convention(c) (Int) -> UnsafePointer<CChar>?

  static let loaded: OpenSSL? = {
    // No handle: whatever this process has loaded.
    guard let result = dlsym(nil, "SSL_get_verify_result"), let words = dlsym(nil, "X509_verify_cert_error_string")
    else { return nil }
    return OpenSSL(
      result: unsafeBitCast(result, to: (@convention(c) (UnsafeRawPointer) -> Int).self),
      words: unsafeBitCast(words, to: (@convention(c) (Int) -> UnsafePointer<CChar>?).self))
  }()
}

extension MosquittoError {
  /// A certificate that OpenSSL does not accept.
  ///
  /// - Parameters:
  ///   - failure: nil: not known.
  ///   - now: seconds since 1970, as this machine's clock has them.
  static func certificate(_ failure: CertificateFailure?, _ configuration: MosquittoConfiguration, now: Int = time(nil))
    -> MosquittoError
  {
    let certificate = "the certificate of \(configuration.address)"
    let ca = "`mqtt.tls.ca_file` (\(configuration.tls?.caFile ?? "not set"))"
    let reason = failure.map { " (\($0.words))" } ?? ""
    // The numbers of x509_vfy.h, which never change.
    let message =
      switch failure?.code {
      case 9 where now < Self.earliest, 10 where now < Self.earliest:
        "\(certificate) can't be checked: this machine's clock says \(Self.day(now))\(reason). "
          + "Set it; the connection is then made by itself"
      case 9: "\(certificate) is not valid yet\(reason): is this machine's clock right? It says \(Self.day(now))"
      case 10:
        "\(certificate), or one that it was signed with, has expired\(reason): renew it on the broker. "
          + "This machine's clock says \(Self.day(now))"
      case 18:
        "\(certificate) is signed by nobody else\(reason), and is not in \(ca): put it there, or "
          + "have it signed by an authority"
      case 19: "\(certificate) is signed by an authority that is not in \(ca)\(reason): put its " + "certificate there"
      case 2, 20, 21:
        "nothing leads from \(certificate) to \(ca)\(reason): put the authority's certificate there, or, "
          + "where the broker leaves out one in between, add that to `certfile` of mosquitto.conf"
      default: "\(certificate) is not signed by \(ca), or not valid\(reason)"
      }
    return MosquittoError(.tlsCertificate, message)
  }

  /// 2025: this program is not older.
  private static let earliest = 1_735_689_600

  /// As 1970-01-01.
  private static func day(_ now: Int) -> String {
    var seconds = now
    var parts = tm()
    var text = [CChar](repeating: 0, count: 32)
    guard gmtime_r(&seconds, &parts) != nil, strftime(&text, text.count, "%Y-%m-%d", &parts) > 0 else {
      return "\(now)"
    }
    return String(cBytes: text)
  }
}
