// SPDX-License-Identifier: Apache-2.0

import ThreadRequests

/// What MQTT requests ask for, as methods of the local API: the daemon answers them for commands and for programs.
///
/// What they are about is in `RequestParameters`, each method has its part of them; and so with `AnswerData`.
package enum RequestMethods {
  package typealias Method = VarlinkMethod<RequestParameters, AnswerData>

  package static let interfaces: [VarlinkInterface] = [
    .credentials, .preferred, .networks, .questions,
  ]

  /// - Returns: nil for `ping`, in whose place there is `org.varlink.service.GetInfo`.
  package static func method(_ command: RequestCommand) -> Method? {
    let (interface, name): (VarlinkInterface, String)
    switch command {
    case .ping: return nil
    case .storeCredentials: (interface, name) = (.credentials, "Store")
    case .deleteCredentials: (interface, name) = (.credentials, "Delete")
    case .getCredentials: (interface, name) = (.credentials, "Get")
    case .listCredentials: (interface, name) = (.credentials, "List")
    case .listActiveCredentials: (interface, name) = (.credentials, "ListActive")
    case .shareCredentials: (interface, name) = (.credentials, "Share")
    case .isPreferredAvailable: (interface, name) = (.preferred, "IsAvailable")
    case .checkPreferred: (interface, name) = (.preferred, "Check")
    case .getPreferred: (interface, name) = (.preferred, "Get")
    case .setPreferred: (interface, name) = (.preferred, "Set")
    case .forgetPreferred: (interface, name) = (.preferred, "Forget")
    case .getNetwork: (interface, name) = (.networks, "Get")
    case .nearbyNetworks: (interface, name) = (.networks, "Nearby")
    case .forgetNetwork: (interface, name) = (.networks, "Forget")
    case .listNetworks: (interface, name) = (.networks, "List")
    case .listRouters: (interface, name) = (.networks, "ListRouters")
    case .listAlerts: (interface, name) = (.networks, "ListAlerts")
    case .approveConsent: (interface, name) = (.questions, "Approve")
    case .denyConsent: (interface, name) = (.questions, "Deny")
    case .askConsent: (interface, name) = (.questions, "Ask")
    case .pendingConsents: (interface, name) = (.questions, "Pending")
    }
    return Method(interface.name, name, for: .team)
  }

  /// Those of an interface.
  package static func methods(
    of interface: VarlinkInterface
  ) -> [(command: RequestCommand, method: Method)] {
    RequestCommand.allCases.compactMap { command in
      method(command).flatMap { $0.interface == interface.name ? (command, $0) : nil }
    }
  }
}
