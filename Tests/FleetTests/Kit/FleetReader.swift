// SPDX-License-Identifier: Apache-2.0

#if Fleet

import Fleet
import Foundation
import Home
import HomeStore
import KeychainCore
import SodiumCrypto
import TestKit

/// Reads homes as the owner of their shard would: with its keys, from the real store.
struct FleetReader {
  private let pool: PostgresPool
  private let server: PostgresServer
  private let database: String

  init(_ scene: FleetScene, _ server: PostgresServer) throws {
    self.server = server
    database = scene.database
    pool = PostgresPool(url: server.url(database: scene.database), size: 1)
  }

  func homes() throws -> [FleetHome: Home] {
    var homes: [FleetHome: Home] = [:]
    for line in try server.run(
      """
      SELECT s.id, s.epoch, encode(k.sealed, 'hex')
      FROM threadkeeper.shard s JOIN threadkeeper.key_slot k ON k.shard = s.id
      """, database: database)
    {
      let parts = line.split(separator: "|").map(String.init)
      guard parts.count == 3, let shard = Int(parts[0]), let epoch = Int64(parts[1]) else {
        throw FleetFailure(description: "a shard is `\(line)`")
      }
      // What stands for the key service writes base64.
      let plaintext = Data(base64Encoded: Data([UInt8](hex: parts[2]))) ?? Data()
      let keys = try ShardKeys(opening: SecretBytes(copying: plaintext), shard: shard)
      let store = ShardStore(
        shard: shard, epoch: epoch, pool: pool, keys: keys,
        term: LeaseTerm(.now + .seconds(60)))
      for (name, home) in try HomeSnapshot.read(store).homes {
        let own = name.hasPrefix("\(shard)/") ? String(name.dropFirst("\(shard)/".count)) : name
        homes[FleetHome(shard: shard, name: own)] = home
      }
    }
    return homes
  }
}

#endif
