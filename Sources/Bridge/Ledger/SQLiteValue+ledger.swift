// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase

/// Values that may be absent are NULL.
extension SQLiteValue {
  init(_ text: String?) { self = .optional(text) }
  init(_ bytes: [UInt8]?) { self = .optional(bytes) }
  init(_ number: Int?) { self = .optional(number.map(Int64.init)) }
  init(_ flag: Bool) { self = .bool(flag) }
  init(_ time: WireTime?) { self = .optional(time?.milliseconds) }

  /// SQLite's integers are signed: the bits are kept, the order is not.
  init(bits number: UInt64?) { self = .optional(number.map(Int64.init(bitPattern:))) }
}
