// SPDX-License-Identifier: Apache-2.0

/// A parameter that decides whether two datasets describe the same network.
///
/// The raw value is its name in alerts and in JSON.
public enum DatasetParameter: String, Sendable, Hashable, CaseIterable {
  /// Network Key.
  case networkKey = "network_key"
  /// Extended PAN ID.
  case extendedPANID = "ext_pan_id"
  /// PAN ID.
  case panID = "pan_id"
  /// Channel.
  case channel = "channel"
  /// Network Name.
  case networkName = "network_name"
  /// PSKc.
  case pskc = "pskc"
  /// Mesh-Local Prefix.
  case meshLocalPrefix = "mesh_local_prefix"
  /// Security Policy, but for its legacy beacon bit.
  case securityPolicy = "security_policy"
  /// Thread Domain Name.
  case domainName = "domain_name"

  /// The TLV that holds it.
  var type: TLVType {
    switch self {
    case .networkKey: .networkKey
    case .extendedPANID: .extendedPANID
    case .panID: .panID
    case .channel: .channel
    case .networkName: .networkName
    case .pskc: .pskc
    case .meshLocalPrefix: .meshLocalPrefix
    case .securityPolicy: .securityPolicy
    case .domainName: .domainName
    }
  }
}
