// SPDX-License-Identifier: Apache-2.0

import Foundation
import ThreadNetwork

/// A line about the credentials of a border router, without anything secret.
struct CredentialRow: Comparable, CustomStringConvertible {
  private let agent: String
  private let network: String
  private let extendedPANID: String
  private let channel: UInt8

  init(_ credentials: THCredentials) {
    agent = Hex.text(credentials.borderAgentID ?? Data())
    // The name comes from outside, and may hold what moves the cursor.
    let name = (credentials.networkName ?? "").unicodeScalars
    network = String(String.UnicodeScalarView(name.filter { $0.properties.isPrintable }))
    extendedPANID = Hex.text(credentials.extendedPANID ?? Data())
    channel = credentials.channel
  }

  var description: String { "\(agent)  \(network)  \(extendedPANID)  channel \(channel)" }

  static func < (left: CredentialRow, right: CredentialRow) -> Bool { left.agent < right.agent }
}

extension Unicode.Scalar.Properties {
  fileprivate var isPrintable: Bool {
    switch generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}
