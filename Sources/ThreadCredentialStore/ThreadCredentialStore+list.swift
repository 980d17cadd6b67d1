// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import ThreadDataset

/// Credentials of many border routers, in the order in which they came. What is damaged is named beside
/// them; an item whose attributes are damaged is in neither: it is not known whose it is.
extension ThreadCredentialStore {
  package typealias Found = (readable: [ThreadCredential], damaged: [BorderAgentID])

  /// - Parameters:
  ///   - team: nil: of every team.
  ///   - limit: the most to look at; nil: all.
  package func all(
    in home: String, of team: String?, limit: Int?, _ tx: ReadTransaction
  ) throws -> Found {
    var attributes: ItemAttributes = [.service: .string(Self.service(home))]
    // As an attribute it is compared byte by byte, like every other name of a team.
    if let team { attributes[.accessGroup] = .string(team) }
    return try opened(
      ItemQuery(.genericPassword, attributes, limit: limit, unreadable: .skip), home: home, tx)
  }

  /// Of every team, on one network.
  package func all(
    in home: String, on network: ExtendedPANID, _ tx: ReadTransaction
  ) throws -> Found {
    var query = Self.query(network, in: home)
    query.unreadable = .skip
    return try opened(query, home: home, tx)
  }

  static func query(_ network: ExtendedPANID, in home: String) -> ItemQuery {
    ItemQuery(
      .genericPassword, [.service: .string(service(home)), .generic: .data(network.bytes)])
  }

  private func opened(_ query: ItemQuery, home: String, _ tx: ReadTransaction) throws -> Found {
    var found: Found = ([], [])
    for item in try keychain.items(matching: query, in: tx) {
      guard let agent = BorderAgentID(hex: item[.account]?.string ?? "") else { continue }
      do {
        found.readable.append(try credential(from: item, agent: agent, home: home, tx))
      } catch let error as KeychainError where error.isItemDamaged {
        found.damaged.append(agent)
      }
    }
    return found
  }
}
