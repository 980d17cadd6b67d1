// SPDX-License-Identifier: Apache-2.0

/// A number as it is written.
package struct JSONNumber {
  let bytes: UnsafeBufferPointer<UInt8>

  /// Nil unless it is a whole number from 0 to 2^64-1. With a fraction or an exponent (`1.0`, `1e2`) it is below
  /// 2^53, where a `Double` is exact.
  package var unsigned: UInt64? {
    var value: UInt64 = 0
    for byte in bytes {
      let digit = byte &- UInt8(ascii: "0")
      guard digit < 10 else { return wholeDouble }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflows) = product.addingReportingOverflow(UInt64(digit))
      guard !isTooLarge, !overflows else { return nil }
      value = sum
    }
    return value
  }

  private var wholeDouble: UInt64? {
    guard let value = Double(String(decoding: bytes, as: UTF8.self)), value < 0x1p53 else {
      return nil
    }
    return UInt64(exactly: value)
  }
}
