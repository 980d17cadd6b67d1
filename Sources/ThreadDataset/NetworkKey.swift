// SPDX-License-Identifier: Apache-2.0

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
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try Swift.withUnsafeBytes(of: value.bigEndian, body)
  }
}
