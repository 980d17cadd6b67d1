/// What can be asked of a daemon. The raw value is the end of an MQTT topic, `request/<command>`, and
/// the field `command` on the socket.
package enum RequestCommand: String, CaseIterable, Sendable {
  case ping
  case storeCredentials = "credentials/store"
  case deleteCredentials = "credentials/delete"
  case getCredentials = "credentials/get"
  case listCredentials = "credentials/list"
  case listActiveCredentials = "credentials/list_active"
  case shareCredentials = "credentials/share"
  case getNetwork = "network/get"
  case nearbyNetworks = "networks/nearby"
  case isPreferredAvailable = "preferred/available"
  case checkPreferred = "preferred/check"
  case getPreferred = "preferred/get"
  case setPreferred = "preferred/set"
  case forgetPreferred = "preferred/forget"
  case forgetNetwork = "networks/forget"
  case approveConsent = "consent/approve"
  case denyConsent = "consent/deny"
  /// Has a person asked again about a router.
  case askConsent = "consent/ask"
  /// What the requester itself waits for.
  case pendingConsents = "consent/pending"
  case listRouters = "routers/list"
  case listNetworks = "networks/list"
  case listAlerts = "alerts/list"

  /// Whether a person must agree before it is answered: it tells what another team has stored.
  package var needsConsent: Bool {
    switch self {
    case .getNetwork, .nearbyNetworks, .getPreferred: true
    default: false
    }
  }

  /// Whether its answer holds secrets whoever asks. Lists hold them on the socket only.
  package var disclosesSecrets: Bool { needsConsent || self == .getCredentials }

  /// Whether it changes what is stored.
  package var writes: Bool {
    switch self {
    case .storeCredentials, .deleteCredentials, .shareCredentials, .setPreferred, .forgetPreferred, .forgetNetwork,
      .approveConsent, .denyConsent, .askConsent:
      true
    // The question.
    case .getNetwork, .nearbyNetworks, .getPreferred: true
    case .ping, .getCredentials, .listCredentials, .listActiveCredentials, .isPreferredAvailable, .checkPreferred,
      .pendingConsents, .listRouters, .listNetworks, .listAlerts:
      false
    }
  }
}
