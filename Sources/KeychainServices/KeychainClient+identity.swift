// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase

extension KeychainClient {
  /// Joins certificates to private keys: the hash of the certificate's public key is the key's
  /// application label. Both must be within the client's groups; they need not share one.
  func identities(
    _ request: ItemRequest, _ reference: ItemReference?, limit: Int?, in tx: ReadTransaction
  ) throws(KeychainError) -> [FoundItem] {
    let keys = try privateKeys(request, reference, in: tx)
    guard !keys.isEmpty else { return [] }
    let certificates = try keychain.items(
      matching: ItemQuery(
        .certificate, accessGroups: groups.groups(searched: request.accessGroup),
        synchronizable: request.searchedSynchronizable(reference), reference: reference),
      in: tx)
    var found: [FoundItem] = []
    for certificate in certificates {
      guard let hash = certificate[.publicKeyHash]?.hashedBytes, !hash.isEmpty else { continue }
      for key in keys[hash] ?? [] {
        let identity = FoundItem(certificate: certificate, privateKey: key)
        guard
          request.isMetBy(
            identity.attributes, needsPresence: identity.halves.contains { $0.needsPresence })
        else { continue }
        found.append(identity)
        if let limit, found.count >= limit { return found }
      }
    }
    return found
  }

  /// Private keys by their application label.
  private func privateKeys(
    _ request: ItemRequest, _ reference: ItemReference?, in tx: ReadTransaction
  ) throws(KeychainError) -> [[UInt8]: [Item]] {
    let keys = try keychain.items(
      matching: ItemQuery(
        .key, [.keyClass: .string("1")], accessible: request.accessible,
        accessGroups: groups.groups(searched: request.accessGroup),
        synchronizable: request.searchedSynchronizable(reference)),
      in: tx)
    return Dictionary(grouping: keys) { $0[.applicationLabel]?.hashedBytes ?? [] }
  }
}

extension AttributeValue {
  fileprivate var hashedBytes: [UInt8] { withCanonicalBytes { Array($0) } }
}
