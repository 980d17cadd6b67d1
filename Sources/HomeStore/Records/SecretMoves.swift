// SPDX-License-Identifier: Apache-2.0

import Home
import KeychainCore
import SodiumCrypto

/// Where the secrets of a batch come from. The moves of several inputs follow each other, and a store writes all of
/// them at once, from what was there before.
package struct SecretMoves {
  private enum Source {
    case bytes(SecretBytes)
    /// What the record has before the commit.
    case stored(RecordID)
    case nothing
  }

  /// By the places of homes.
  private var sources: [Int: [RecordKey: Source]] = [:]

  package init() {}

  package func keys(of home: Int) -> some Sequence<RecordKey> { sources[home, default: [:]].keys }

  /// - Parameters:
  ///   - dataset: that came with the input.
  ///   - stored: the id that a record has before the commit.
  package mutating func take(
    _ moves: [SecretMove], in home: Int, dataset: [UInt8]?,
    stored: (RecordKey) -> RecordID?
  ) {
    for move in moves {
      let source: Source =
        switch move.from {
        case .input: dataset.map { .bytes(SecretBytes(copying: $0)) } ?? .nothing
        case .nothing: .nothing
        case .record(let key):
          sources[home]?[key] ?? stored(key).map { .stored($0) } ?? .nothing
        }
      sources[home, default: [:]][move.to] = source
    }
  }

  /// - Parameter id: of the record itself.
  package func secret(of key: RecordKey, in home: Int, _ id: RecordID) -> RecordChanges.Secret {
    switch sources[home]?[key] {
    case nil: .keep
    case .bytes(let bytes): .new(bytes)
    case .stored(let other): other == id ? .keep : .copy(of: other)
    case .nothing: .none
    }
  }
}
