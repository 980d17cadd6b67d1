// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What a caller wants to be given of the items that were found (`r_Data`, `r_Attributes`, …).
package struct ResultShape: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let data = Self(rawValue: 1)
  package static let attributes = Self(rawValue: 2)
  package static let reference = Self(rawValue: 4)
  package static let persistentReference = Self(rawValue: 8)
}
