// SPDX-License-Identifier: Apache-2.0

/// The bytes of hexadecimal digits in a test.
func hex(_ digits: String) -> [UInt8] {
  let values = digits.compactMap { $0.hexDigitValue }
  return stride(from: 0, to: values.count - 1, by: 2).map {
    UInt8(values[$0] << 4 | values[$0 + 1])
  }
}
