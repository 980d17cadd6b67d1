import Home
import KeychainCore
import SodiumCrypto
import ThreadDataset

/// Makes summaries of datasets, with keyed hashes in place of their secrets. Most routers of a home report the same
/// dataset: what was made once is shared.
package struct DatasetReader: Sendable {
  /// What a hash is of goes in front, so that equal bytes of different kinds have different hashes.
  package enum Subject: UInt8 { case dataset, networkKey, pskc, signer }

  private static let kept = 1_024
  private static let keyLength = 32

  private let key: SecretBytes
  private var summaries: [Hash128: DatasetSummary] = [:]

  /// - Parameter key: 32 bytes that belong to the store.
  /// - Throws: for another length: no hash could be made, and all datasets would seem to be equal.
  package init(key: SecretBytes) throws(SodiumError) {
    guard key.count == Self.keyLength else { throw .wrongLength(expected: Self.keyLength, found: key.count) }
    self.key = key
  }

  /// - Parameter dataset: any bytes.
  /// - Returns: nil for what is no active dataset with which a Matter device can attach.
  package mutating func summary(of dataset: [UInt8]) -> DatasetSummary? {
    let whole = hash(dataset, as: .dataset)
    if let known = summaries[whole] { return known }
    guard let read = try? OperationalDataset(bytes: dataset), let new = summarize(read) else { return nil }
    if summaries.count >= Self.kept { summaries.removeAll() }
    summaries[whole] = new
    return new
  }

  /// The same, for who has a dataset and no message: a call.
  package func summarize(_ dataset: OperationalDataset) -> DatasetSummary? {
    DatasetSummary(dataset) { Self.hash($0, $1, key) }
  }

  package func hash(_ bytes: [UInt8], as subject: Subject) -> Hash128 {
    bytes.withUnsafeBytes { Self.hash($0, subject.rawValue, key) }
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer, _ subject: UInt8, _ key: SecretBytes) -> Hash128 {
    var hash = Hash128()
    withScratchMemory(bytes.count + 1) { message in
      message[0] = subject
      UnsafeMutableRawBufferPointer(rebasing: message[1...]).copyMemory(from: bytes)
      withUnsafeMutableBytes(of: &hash) { output in
        key.withUnsafeBytes { key in
          // Fails for a wrong length only.
          try? BLAKE2b.hash(UnsafeRawBufferPointer(message), key: key, into: output)
        }
      }
    }
    return hash
  }
}

extension DatasetSummary {
  /// - Parameter key: as the loop's.
  /// - Returns: nil for what is no active dataset with which a Matter device can attach, and for a key of another
  ///   length.
  package init?(_ dataset: OperationalDataset, key: SecretBytes) {
    guard let summary = try? DatasetReader(key: key).summarize(dataset) else { return nil }
    self = summary
  }
}

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
  package mutating func take(_ moves: [SecretMove], in home: Int, dataset: [UInt8]?, stored: (RecordKey) -> RecordID?) {
    for move in moves {
      let source: Source =
        switch move.from {
        case .input: dataset.map { .bytes(SecretBytes(copying: $0)) } ?? .nothing
        case .nothing: .nothing
        case .record(let key): sources[home]?[key] ?? stored(key).map { .stored($0) } ?? .nothing
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
