// SPDX-License-Identifier: Apache-2.0

/// A PSKc: the 16 octets that a commissioner must know to be let in. Secret.
///
/// Thread specification: PSKc TLV.
public struct PSKc: ThreadSecret {
  private let value: UInt128

  /// - Parameter octets: 16 octets; `nil` for any other number.
  public init?(octets: some Collection<UInt8>) {
    guard octets.count == 16 else { return nil }
    value = UInt128(bigEndianOctets: octets)
  }

  /// Lends the 16 octets for the time of the call, without a copy on the heap.
  public func withUnsafeOctets<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeBytes(of: value.bigEndian, body)
  }
}
