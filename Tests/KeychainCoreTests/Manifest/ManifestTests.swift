import SodiumCrypto
import Testing

@testable import KeychainCore

@Suite struct ManifestTests {
  private let key: GuardedKey

  init() throws { key = try KeyArena().randomKey() }

  private func element(_ number: Int64, version: Int64 = 1) -> ManifestElement {
    let id = ItemID(high: 0, low: UInt64(bitPattern: number))
    return .item(
      .init(
        rowID: number, itemClass: 1, id: id, version: version, metadataTag: id, secretTag: id, indexEpoch: 1,
        primaryIndex: id, index1: nil, index2: nil, classKey: KeyID(rawValue: 17 << 24 | 1)))
  }

  @Test func theSameRowTwiceIsNotTheSameAsNever() throws {
    var manifest = Manifest()
    try manifest.insert(element(1), key: key)
    try manifest.insert(element(1), key: key)
    #expect(!manifest.hasSameContents(as: Manifest()))
  }

  @Test func aVersionAndAKeyMakeADifference() throws {
    var first = Manifest()
    var second = Manifest()
    var third = Manifest()
    try first.insert(element(1), key: key)
    try second.insert(element(1, version: 2), key: key)
    try third.insert(element(1), key: KeyArena().randomKey())
    #expect(!first.hasSameContents(as: second) && !first.hasSameContents(as: third))
  }
}
