// SPDX-License-Identifier: Apache-2.0

/// For how long an approval holds.
package enum ConsentScope: String, Sendable, Codable, CaseIterable {
  case once, always
}
