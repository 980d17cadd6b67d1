// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import ThreadCredentialStore
import ThreadDataset

/// A store with the credentials of many routers, four to a network.
final class CredentialStore {
  private static let home = "bench"
  /// Of one transaction, about as many as the intake takes at once.
  private static let batch = 500

  let keychain: Keychain
  let routers: Int
  private let location: StoreLocation

  init(in directory: String, routers: Int) throws {
    location = StoreLocation(directory: directory + "/store")
    keychain = try Keychain.create(
      at: location, slots: [.keyFile(path: directory + "/store.key")])
    self.routers = routers
  }

  deinit { keychain.close() }

  func fill() throws {
    let credentials = ThreadCredentialStore(keychain)
    for start in stride(from: 0, to: routers, by: Self.batch) {
      try keychain.database.write { tx in
        for number in start..<min(start + Self.batch, routers) {
          guard let agent = BorderAgentID(hex: Fleet.agent(number)) else { continue }
          try credentials.add(
            Self.dataset(number / 4), of: agent, team: "bench", in: Self.home,
            followsPreferred: false, tx)
        }
      }
    }
    // The log becomes a part of the file.
    guard try keychain.database.checkpointTruncate() else {
      throw BareDatabase.Unavailable(description: "somebody reads the store")
    }
  }

  /// The dataset of a network: Extended PAN IDs are spread like border agent ids.
  private static func dataset(_ network: Int) throws -> OperationalDataset {
    try OperationalDataset(
      hex: Fleet.dataset.replacing("5eed0fbe7c4b1a60", with: Fleet.agent((1 << 40) + network)))
  }

  /// Looks up routers, each in a transaction of its own, with their datasets.
  ///
  /// - Returns: how many were found.
  func find(_ numbers: [Int]) throws -> Int {
    var found = 0
    for number in numbers {
      let query = ItemQuery(
        .genericPassword,
        [
          .service: .string("thread-network/\(Self.home)"), .account: .string(Fleet.agent(number)),
        ], limit: 1)
      try keychain.database.read { tx in
        found += try keychain.first(matching: query, in: tx)?.secret.count ?? 0 > 0 ? 1 : 0
      }
    }
    return found
  }

  /// Bytes of the database file.
  var fileSize: Double {
    let attributes = try? FileManager.default.attributesOfItem(atPath: location.databasePath)
    return (attributes?[.size] as? NSNumber)?.doubleValue ?? 0
  }
}
