// SPDX-License-Identifier: Apache-2.0

/// A secret of 16 bytes. Whatever prints it, prints `<16 bytes>`.
///
/// Who needs the bytes says so: ``bytes``, ``withUnsafeBytes(_:)`` or ``revealedHex``.
public protocol ThreadSecret: Sendable, Hashable, CustomStringConvertible,
  CustomDebugStringConvertible, CustomReflectable
{
  /// - Parameter bytes: 16 bytes; `nil` for any other number.
  init?(bytes: some Collection<UInt8>)

  /// Lends the 16 bytes for the time of the call, without a copy on the heap.
  func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result
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
