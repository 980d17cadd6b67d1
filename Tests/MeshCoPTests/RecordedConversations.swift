import Foundation
import MeshCoP
import SodiumCrypto
import Testing
import ThreadDataset

/// Conversations with a real OpenThread border router, with the random values of the client that had them.
struct RecordedConversation: Decodable, Sendable, CustomTestStringConvertible {
  struct Datagram: Decodable, Sendable {
    var to_router: String?
    var from_router: String?

    var isFromRouter: Bool { from_router != nil }
    var bytes: [UInt8] { Hexadecimal.decode(from_router ?? to_router ?? "") ?? [] }
  }

  struct Answer: Decodable, Sendable {
    var path: String
    var code: String
    var payload: String
  }

  var name: String
  var secret: String
  var secret_is: String
  var datagrams: [Datagram]
  var answers: [Answer]
  var ends_with: String?
  var random: [String: String]

  var testDescription: String { name }
  var secretBytes: SecretBytes {
    SecretBytes(copying: secret_is == "code" ? Array(secret.utf8) : Hexadecimal.decode(secret) ?? [])
  }

  /// A value of the client, with the zeros in front that the file leaves out.
  func value(_ name: String, _ count: Int = 32) -> [UInt8] {
    let digits = random[name] ?? ""
    return Hexadecimal.decode(String(repeating: "0", count: count * 2 - digits.count) + digits) ?? []
  }

  /// The random values of the key exchange and the hello, in the order in which they are taken.
  var handshakeValues: [UInt8] {
    ["x1", "x2", "v_of_x1", "v_of_x2", "v_of_client_key_exchange", "client_random"].flatMap { value($0) }
  }

  static let all: [RecordedConversation] = {
    struct File: Decodable { var cases: [RecordedConversation] }
    guard let url = Bundle.module.url(forResource: "Recorded/meshcop", withExtension: "json"),
      let data = try? Data(contentsOf: url), let file = try? JSONDecoder().decode(File.self, from: data)
    else { return [] }
    return file.cases
  }()
}
