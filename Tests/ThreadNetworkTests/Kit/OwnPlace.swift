import Foundation
import KeychainCore
import TestKit

@testable import ThreadNetwork

/// A store of a test's own, which clients open themselves, and where no daemon runs unless a test
/// makes one.
final class OwnPlace: Sendable {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  var storePath: String { directory.file("store") }
  var socketPath: String { storePath + "/varlink.sock" }

  func configuration(team: String = "own", home: String? = nil, confirmConsent: (@Sendable (String) -> Bool?)? = nil)
    -> THClient.Configuration
  { THClient.Configuration(storeDirectory: storePath, team: team, home: home, confirmConsent: confirmConsent) }

  func client(team: String = "own", home: String? = nil, confirmConsent: (@Sendable (String) -> Bool?)? = nil)
    -> THClient
  { THClient(configuration: configuration(team: team, home: home, confirmConsent: confirmConsent)) }

  /// Opens the store, as another program would.
  func withStore<R>(_ body: (Keychain) throws -> R) throws -> R {
    let keychain = try Keychain.open(
      at: StoreLocation(directory: storePath, anchorDirectory: storePath + ".anchor"),
      with: .keyFile(path: storePath + ".key"), access: .shared)
    defer { keychain.close() }
    return try body(keychain)
  }

  /// A directory in which a socket is believed.
  func makeSocketDirectory() throws -> String {
    let path = directory.file("daemon")
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return path + "/client.sock"
  }
}

extension SampleNetwork {
  func bytes(at seconds: UInt64 = 1) throws -> Data { Data(try dataset(at: seconds).bytes) }

  var id: Data { Data(hex: extendedPANID) }
}

extension THClient {
  func store(_ network: SampleNetwork = .home, for agent: Data = Agents.kitchen) async throws {
    try await storeCredentials(forBorderAgent: agent, activeOperationalDataSet: network.bytes())
  }
}

enum Agents {
  static let kitchen = Data(hex: "0000000000000001")
  static let attic = Data(hex: "0000000000000002")
  static let garage = Data(hex: "0000000000000003")
}

/// The error that something throws; nil when it throws none or another kind.
func failure<R>(_ body: () async throws -> R) async -> THError? {
  do {
    _ = try await body()
    return nil
  } catch { return error as? THError }
}
