/// A Network Key: the 16 bytes from which all keys of a Thread network are derived. Secret.
///
/// Thread specification: Network Key TLV.
public struct NetworkKey: ThreadSecret {
  private let value: UInt128

  /// - Parameter bytes: 16 bytes; `nil` for any other number.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    value = UInt128(bigEndianBytes: bytes)
  }

  /// Lends the 16 bytes for the time of the call, without a copy on the heap.
  public func withUnsafeBytes<Result, Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Result)
    throws(Failure) -> Result
  { try Swift.withUnsafeBytes(of: value.bigEndian, body) }
}

extension NetworkKey {
  /// Whether the key is printed in public documentation, so that it keeps nobody out.
  ///
  /// The list has the keys of well-known guides and of public test data, and the trivial ones. It
  /// can't be complete: `false` does not say that a key is good.
  public var isWellKnown: Bool { Self.wellKnown.contains(self) }

  private static let wellKnown = Set(
    [
      // Trivial.
      "00000000000000000000000000000000", "ffffffffffffffffffffffffffffffff",
      // Guides of OpenThread, of chip makers and of Home Assistant.
      "00112233445566778899aabbccddeeff",
      // Guides of OpenThread's command line, of its simulation, of its service registry.
      "dfd34f0f05cad978ec4e32b0413038ff", "7fcbae4153cc2955c28440c15d4d4219",
      // Test data of OpenThread, of its border router, of Android and of Matter.
      "eaf9149fdc7378770698d59180221958", "f26b3153760f519a63bafddffc80d2af", "ba088fc2bd6c3b3897f7a10f58263ff3",
      "ed916e454d96fd00184f10a6f5c9e1d3", "f366cec7a446bab978d90d27abe38f23",
    ].compactMap { NetworkKey(hex: $0) })
}

/// A PSKc: the 16 bytes that a commissioner must know to be let in. Secret.
///
/// Thread specification: PSKc TLV.
public struct PSKc: ThreadSecret {
  private let value: UInt128

  /// - Parameter bytes: 16 bytes; `nil` for any other number.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    value = UInt128(bigEndianBytes: bytes)
  }

  /// Lends the 16 bytes for the time of the call, without a copy on the heap.
  public func withUnsafeBytes<Result, Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Result)
    throws(Failure) -> Result
  { try Swift.withUnsafeBytes(of: value.bigEndian, body) }
}

/// A secret of 16 bytes. Whatever prints it, prints `<16 bytes>`.
///
/// Who needs the bytes says so: ``bytes``, ``withUnsafeBytes(_:)`` or ``revealedHex``.
public protocol ThreadSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// - Parameter bytes: 16 bytes; `nil` for any other number.
  init?(bytes: some Collection<UInt8>)

  /// Lends the 16 bytes for the time of the call, without a copy on the heap.
  func withUnsafeBytes<Result, Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Result)
    throws(Failure) -> Result
}

extension ThreadSecret {
  /// - Parameter hex: 32 hexadecimal digits in upper or lower case; `nil` for anything else.
  public init?(hex: some StringProtocol) {
    guard let bytes = Hexadecimal.decode(hex) else { return nil }
    self.init(bytes: bytes)
  }

  /// The 16 bytes. Keep them out of logs, errors and messages.
  public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

  /// 32 hexadecimal digits in lower case. Keep them out of logs, errors and messages.
  public var revealedHex: String { withUnsafeBytes { Hexadecimal.encode($0) } }

  /// Always `<16 bytes>`.
  public var description: String { "<16 bytes>" }
  /// Always `<16 bytes>`.
  public var debugDescription: String { description }
  /// Without children, so that `dump` shows no byte.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
