import Foundation
import ThreadDataset

/// A Thread network by the few values that a test is about.
package struct SampleNetwork: Sendable {
  package var extendedPANID: String
  package var name: String
  /// 32 hex digits.
  package var networkKey: String
  package var pskc = "5eedc0de5eedc0de5eedc0de5eedc0de"
  package var channel: UInt16 = 15
  package var panID: UInt16 = 0x1234

  package init(extendedPANID: String, name: String, networkKey: String) {
    self.extendedPANID = extendedPANID
    self.name = name
    self.networkKey = networkKey
  }

  package static let home = SampleNetwork(
    extendedPANID: "1111111122222222", name: "home", networkKey: "c0ffee11d00dfeed5ca1ab1e0ddba11f")
  package static let guest = SampleNetwork(
    extendedPANID: "3333333344444444", name: "guest-thread", networkKey: "9e3779b97f4a7c15bf58476d1ce4e5b9")

  /// The complete active dataset as of a time.
  ///
  /// - Parameter seconds: of the Active Timestamp.
  package func dataset(at seconds: UInt64, ticks: UInt16 = 0) throws -> OperationalDataset {
    try OperationalDataset([
      .activeTimestamp(try Self.value(Timestamp(seconds: seconds, ticks: ticks))), .channel(Channel(number: channel)),
      .channelMask(ChannelMask(channels: 11...26)), .extendedPANID(try Self.value(ExtendedPANID(hex: extendedPANID))),
      .meshLocalPrefix(try Self.value(MeshLocalPrefix(hex: "fdad70bfe5aa15dd"))),
      .networkKey(try Self.value(NetworkKey(hex: networkKey))), .networkName(name), .panID(panID),
      .pskc(try Self.value(PSKc(hex: pskc))),
      .securityPolicy(try Self.value(SecurityPolicy(rotationTime: 672, flags: [0xF7, 0xF8]))),
    ])
  }

  /// The same network with one value changed.
  package func with(_ change: (inout SampleNetwork) -> Void) -> SampleNetwork {
    var network = self
    change(&network)
    return network
  }

  package struct NotAValue: Error {}

  private static func value<T>(_ value: T?) throws -> T {
    guard let value else { throw NotAValue() }
    return value
  }
}

/// The public dataset vectors, read from the tests of `ThreadDataset`, where they are kept.
package enum DatasetVectors {
  package struct Vector: Decodable, Sendable {
    package let id: String
    package let hex: String
    /// `complete`, `pending`, or the code of the rejection.
    package let expect: String
  }

  private struct VectorFile: Decodable { let vectors: [Vector] }

  /// - Throws: when the file is not where it should be.
  package static func all() throws -> [Vector] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("ThreadDatasetTests/Vectors/datasets.json")
    return try JSONDecoder().decode(VectorFile.self, from: Data(contentsOf: file)).vectors
  }
}

extension RangeReplaceableCollection<UInt8> {
  /// The bytes that hexadecimal digits stand for; what is no digit is passed over.
  package init(hex: some StringProtocol) {
    let digits = hex.compactMap(\.hexDigitValue)
    self.init(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }
}

/// Random numbers that come again with the same seed (SplitMix64), so that a test which failed can
/// be run again as it was.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
