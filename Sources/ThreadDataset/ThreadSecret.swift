// SPDX-License-Identifier: Apache-2.0

/// A secret of 16 octets. Whatever prints it, prints `<16 octets>`.
///
/// Who needs the octets says so: ``octets``, ``withUnsafeOctets(_:)`` or ``revealedHex``.
public protocol ThreadSecret: Sendable, Hashable, CustomStringConvertible,
  CustomDebugStringConvertible, CustomReflectable
{
  /// - Parameter octets: 16 octets; `nil` for any other number.
  init?(octets: some Collection<UInt8>)

  /// Lends the 16 octets for the time of the call, without a copy on the heap.
  func withUnsafeOctets<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result
}

extension ThreadSecret {
  /// - Parameter hex: 32 hexadecimal digits in upper or lower case; `nil` for anything else.
  public init?(hex: some StringProtocol) {
    guard let octets = Hexadecimal.decode(hex) else { return nil }
    self.init(octets: octets)
  }

  /// The 16 octets. Keep them out of logs, errors and messages.
  public var octets: [UInt8] { withUnsafeOctets { Array($0) } }

  /// 32 hexadecimal digits in lower case. Keep them out of logs, errors and messages.
  public var revealedHex: String { withUnsafeOctets { Hexadecimal.encode($0) } }

  /// Always `<16 octets>`.
  public var description: String { "<16 octets>" }
  /// Always `<16 octets>`.
  public var debugDescription: String { description }
  /// Without children, so that `dump` shows no octet.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
