import Broker
import Home
import Synchronization
import ThreadDataset

/// What a border router reports of itself in one look.
package struct RouterReport: Equatable, Sendable {
  /// A dataset of the router.
  package enum Reading: Equatable, Sendable {
    /// 204: it has none.
    case none
    case complete(OperationalDataset)
    /// It lacks parameters.
    case partial(OperationalDataset)
    /// It is a pending one, or cannot be read. Why, without a value.
    case unusable(String)

    init(_ dataset: OperationalDataset) {
      self =
        switch dataset.kind {
        case .complete: .complete(dataset)
        case .partial: .partial(dataset)
        case .pending: .unusable("it is a pending one")
        }
    }

    /// Why it is of no use; nil: it is not there, or can be used.
    package var flaw: String? {
      switch self {
      case .none, .complete: nil
      case .partial(let dataset): "it lacks \(dataset.missing.map(\.name).joined(separator: ", "))"
      case .unusable(let flaw): flaw
      }
    }
  }

  package var agent: BorderAgentID
  /// 16 hex digits in lower case.
  package var extendedAddress: String?
  package var state: ThreadState
  /// The network that it is on, whatever its dataset says. OpenThread shows a new dataset at once, also while the
  /// router still runs on the old network.
  package var network: ExtendedPANID?
  package var networkName: String?
  /// What it is configured for.
  package var dataset: Reading
  /// A change that is coming.
  package var pending: OperationalDataset?
  /// The partition that it is in.
  package var partition: UInt32?
  /// It leads a partition in which there is no other router: the only one of its network, or out of reach of the
  /// others.
  package var isAlone = false
  /// A change is coming, and what it brings cannot be read.
  package var hasUnreadablePending = false

  /// The complete dataset.
  package var active: OperationalDataset? { if case .complete(let dataset) = dataset { dataset } else { nil } }

  /// Disabled and without a dataset: new, after a factory reset or `DELETE /node`, or it has lost its settings.
  package var hasNoNetwork: Bool { state == .disabled && dataset == .none }

  /// What it is announced with: the dataset, whether it is complete or not.
  var announced: OperationalDataset? { if case .partial(let dataset) = dataset { dataset } else { active } }

  /// Whether it takes part in the network of this dataset with these parameters.
  package func uses(_ dataset: OperationalDataset) -> Bool {
    guard state.isAttached, network == dataset.extendedPANID, let active else { return false }
    return active.essentialDifferences(from: dataset).isEmpty
  }
}

/// What one look at a border router has brought.
package enum RouterLook: Equatable, Sendable {
  case report(RouterReport)
  /// It does not report itself. That never means that it has left.
  case silent(RouterSilence)
}

/// Why a border router does not report itself.
package enum RouterSilence: Equatable, Sendable {
  /// Nothing accepts connections: it, or its agent, is off. With the system's words.
  case unreachable(String)
  /// Connections are accepted and not answered in time.
  case frozen
  /// A program of another user than the router's listens in its place, and was not asked. What is known of it.
  case untrusted(String)
  /// It is not known whose program listens there, and it was not asked. Why.
  case unchecked(String)
  /// What is answered is not what a border router answers, or an error with this HTTP status.
  case garbage(String, status: Int? = nil)

  package init(_ failure: HTTPFailure) {
    switch failure {
    case .unreachable(let message): self = .unreachable(message)
    case .timeout, .stopped: self = .frozen
    case .untrusted(let message): self = .untrusted(message)
    case .unchecked(let message): self = .unchecked(message)
    case .garbage(let message): self = .garbage(message)
    }
  }

  /// What the `offline` event says. Nil where none of these is known.
  package var reason: OfflineReason? {
    switch self {
    case .unreachable: .unreachable
    case .frozen: .frozen
    case .untrusted: .untrusted
    case .garbage: .failing
    case .unchecked: nil
    }
  }

  package var status: Int? { if case .garbage(_, let status) = self { status } else { nil } }

  /// For the log.
  package var description: String {
    switch self {
    case .unreachable(let message): "nothing accepts the connection (\(message)): is it off?"
    case .frozen: "the connection is accepted, or lost, and nothing answers: it is frozen"
    case .untrusted(let message): "\(message), and neither root nor --router-user: it is not asked"
    case .unchecked(let message): "\(message), so who listens there is unknown: it is not asked"
    case .garbage(let message, _): "it does not answer as its REST interface should: \(message)"
    }
  }

  /// Two of a kind continue the same trouble, whatever the words.
  func isLike(_ other: RouterSilence) -> Bool {
    switch (self, other) {
    case (.unreachable, .unreachable), (.frozen, .frozen), (.garbage, .garbage): true
    case (.untrusted, .untrusted), (.unchecked, .unchecked): true
    default: false
    }
  }
}

/// Which router each agent of one process sees, so that one publishes for each router, and none publishes that a router
/// has left which another one sees: two routers whose addresses were swapped are both still there.
package final class RouterCensus: Sendable {
  private struct State {
    /// By address, what was found there last.
    var last: [HTTPAddress: BorderAgentID] = [:]
    /// Who found it first.
    var owners: [BorderAgentID: HTTPAddress] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// - Returns: the address whose agent publishes for this router.
  package func owner(of agent: BorderAgentID, seenAt address: HTTPAddress) -> HTTPAddress {
    state.withLock { state in
      state.last[address] = agent
      if let owner = state.owners[agent], state.last[owner] == agent { return owner }
      state.owners[agent] = address
      return address
    }
  }

  package func seen(besides address: HTTPAddress) -> Set<BorderAgentID> {
    state.withLock { state in Set(state.last.filter { $0.key != address }.values) }
  }
}
