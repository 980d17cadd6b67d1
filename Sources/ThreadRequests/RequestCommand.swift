/// A field of `RequestFields` that some commands have.
package enum RequestParameter: String, Sendable {
  case agent = "border_agent_id"
  case network = "ext_pan_id"
  case networkName = "network_name"
  case administrator, dataset, id, program, purpose, scope, token, transaction
}

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
  case askConsent = "consent/ask"
  case pendingConsents = "consent/pending"
  case listRouters = "routers/list"
  case listNetworks = "networks/list"
  case listAlerts = "alerts/list"
  case testAlerts = "alerts/test"
  case confirmAlerts = "alerts/confirm"

  /// What it may have beside its `transaction`, and on the socket its `home`. By this it is read, described to clients,
  /// and documented.
  package var parameters: [RequestParameter] {
    switch self {
    case .ping, .listCredentials, .listActiveCredentials, .isPreferredAvailable, .listRouters, .listNetworks,
      .listAlerts, .testAlerts, .confirmAlerts:
      []
    case .storeCredentials: [.agent, .dataset]
    case .getCredentials: [.agent]
    case .deleteCredentials, .askConsent: [.agent, .administrator]
    case .shareCredentials: [.network]
    case .getNetwork: [.network, .transaction, .program]
    case .nearbyNetworks: [.transaction, .program]
    case .checkPreferred: [.dataset]
    case .getPreferred: [.purpose, .transaction, .program]
    case .setPreferred: [.network, .agent, .networkName, .id, .dataset, .administrator]
    case .forgetPreferred, .pendingConsents: [.administrator]
    case .forgetNetwork: [.network, .id, .administrator]
    case .approveConsent, .denyConsent: [.id, .scope, .token, .administrator]
    }
  }

  /// Whether it is refused without that. `preferred/set` and `networks/forget` need one of theirs.
  package func needs(_ parameter: RequestParameter) -> Bool {
    switch parameter {
    case .agent, .dataset, .id, .network:
      self != .setPreferred && self != .forgetNetwork && parameters.contains(parameter)
    case .administrator, .networkName, .program, .purpose, .scope, .token, .transaction: false
    }
  }

  /// What `data` of its answer has, by the names of `AnswerData`; with `?` perhaps.
  package var reply: [String] {
    switch self {
    case .ping: ["time", "version"]
    case .storeCredentials: ["change", "preferred?"]
    case .deleteCredentials: ["deleted"]
    case .getCredentials, .getNetwork, .getPreferred: ["credentials"]
    case .listCredentials, .listActiveCredentials, .nearbyNetworks: ["credentials", "damaged?"]
    case .isPreferredAvailable: ["available"]
    case .checkPreferred: ["result", "differs?"]
    case .setPreferred: ["changed", "available?", "source?"]
    case .forgetPreferred: ["forgotten?"]
    case .forgetNetwork: ["forgotten?", "remaining?", "shared_by?"]
    case .pendingConsents: ["pending"]
    case .listRouters: ["routers"]
    case .listNetworks: ["networks"]
    case .listAlerts: ["alerts"]
    case .shareCredentials, .approveConsent, .denyConsent, .askConsent, .testAlerts, .confirmAlerts: []
    }
  }

  /// What it is for.
  package var about: StaticString {
    switch self {
    case .ping: "Whether the daemon answers."
    case .storeCredentials: "Stores the credentials of a border router."
    case .deleteCredentials: "Deletes the credentials of a border router."
    case .getCredentials: "The credentials of a border router of the own team."
    case .listCredentials: "The credentials of the own team."
    case .listActiveCredentials: "The same, of routers that are there and can be reached."
    case .shareCredentials: "Always `unsupported`: a code is shown to people, by `threadkeeper networks share`."
    case .getNetwork: "The newest credentials of a network, of any team. Needs consent."
    case .nearbyNetworks: "The credentials of all networks whose routers are there, of every team. Needs consent."
    case .isPreferredAvailable: "Whether a network is preferred, and its credentials are here."
    case .checkPreferred: "Compares a dataset with the preferred network."
    case .getPreferred: "The credentials of the preferred network. Needs consent: a person is asked for two minutes."
    case .setPreferred:
      "Chooses the preferred network, by one of `ext_pan_id`, perhaps with the `border_agent_id` whose dataset is meant, `network_name`, `dataset`, and `id` of the history or `p-current`: the one that is preferred, whose keys are confirmed by it."
    case .forgetPreferred: "Prefers no network. Over MQTT it is refused."
    case .forgetNetwork:
      "Deletes the credentials of a network that was preferred, or that a login shares, by `ext_pan_id`, or one entry of the history by `id`. Over MQTT it is refused."
    case .approveConsent: "Agrees to a request that waits."
    case .denyConsent: "Refuses a request that waits."
    case .askConsent:
      "Has a person asked again whether a router gets the preferred credentials, after that was denied, expired or failed; else `conflict`. For those who decide."
    case .pendingConsents: "What the requester itself waits for in this home, oldest first."
    case .listRouters: "The border routers of the home, as they are published."
    case .listNetworks: "The Thread networks of the home, as they are published."
    case .listAlerts: "The alerts of the home that fire, as they are published."
    case .testAlerts: "Raises `TestAlert`. For those who decide, and not on the socket, as the next one."
    case .confirmAlerts: "A person says that alerts arrive: a [step](#state-of-protection) is done."
    }
  }

  /// Whether a person must agree before it is answered: it shows what another team has stored.
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
      .approveConsent, .denyConsent, .askConsent, .testAlerts, .confirmAlerts:
      true
    // The question.
    case .getNetwork, .nearbyNetworks, .getPreferred: true
    case .ping, .getCredentials, .listCredentials, .listActiveCredentials, .isPreferredAvailable, .checkPreferred,
      .pendingConsents, .listRouters, .listNetworks, .listAlerts:
      false
    }
  }
}
