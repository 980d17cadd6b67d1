/// `import ThreadNetwork` brings Foundation, as it does on Apple's systems: files with `Data`, `Date` and `NSError`
/// need no other import.
@_exported import Foundation

// Unchecked because an open class cannot be checked: what it has itself is constant. Subclasses
// answer for theirs.
/// Stores, finds and deletes the Thread credentials of border routers, and asks about the preferred
/// network of the home.
///
/// The names, labels and types are those of the class of this name on Apple's systems. Every call has a
/// form with a completion handler, here, and one for `await`. A handler is called exactly once, on
/// a thread of the system's, never on that of the call and never before the call has returned. The
/// client lives until then, also when it is set to nil meanwhile. The `await` forms end early with
/// `CancellationError` when their task is cancelled, but for the two that throw nothing.
///
/// A client talks to the daemon that runs on this machine; without one it opens a store of its own.
/// What the credentials of a program are, its *team*, follows from the user that it runs as. See
/// ``Configuration`` and docs/reference/threadnetwork.md.
///
/// Errors are ``THError`` values, which are `NSError` objects.
///
/// A border router is named by its *Border Agent ID*: 8 bytes (the MAC extended address) or 16
/// bytes. 16 bytes that end in eight zero bytes mean the same as the first eight.
open class THClient: NSObject, @unchecked Sendable {
  let daemon: DaemonLink

  /// A client of the daemon, or of the store, that the environment of the program names.
  public override init() { daemon = DaemonLink(Configuration()) }

  /// A client of a daemon or a store of the program's choice. Linux only.
  ///
  /// - Parameter configuration: what is not said in it comes from the environment.
  public init(configuration: Configuration) { daemon = DaemonLink(configuration) }

  // MARK: Own credentials

  /// All credentials that the own team has stored.
  ///
  /// - Parameter completion: gets the credentials, which may be none, or the error.
  @preconcurrency open func retrieveAllCredentials(
    _ completion: @escaping @Sendable (Set<THCredentials>?, (any Error)?) -> Void
  ) { start(completion) { try await $0.credentials(.listCredentials) } }

  /// The credentials that the own team has stored for border routers that can be reached now. Without
  /// a daemon nobody listens to border routers, and there are none.
  ///
  /// - Parameter completion: gets the credentials, which may be none, or the error.
  @preconcurrency open func retrieveAllActiveCredentials(
    _ completion: @escaping @Sendable (Set<THCredentials>?, (any Error)?) -> Void
  ) { start(completion) { try await $0.credentials(.listActiveCredentials) } }

  /// The credentials that the own team has stored for a border router.
  ///
  /// - Parameters:
  ///   - borderAgentID: 8 or 16 bytes.
  ///   - completion: gets the credentials or the error: ``THError/Code/notFound`` when there are
  ///     none, also when another team has some; ``THError/Code/invalidArgument`` for an id of
  ///     another length.
  @preconcurrency open func retrieveCredentials(
    forBorderAgent borderAgentID: Data, completion: @escaping @Sendable (THCredentials?, (any Error)?) -> Void
  ) { start(completion) { try await $0.credential(.of(borderAgentID, .getCredentials)) } }

  /// Stores the credentials of a border router, or replaces those that the own team has stored.
  ///
  /// The first network that is stored in a home becomes the preferred network. Where a border router
  /// belongs to the preferred network, a change of its credentials changes the preferred network's. To
  /// change a router's credentials alone: delete them, and store them under a new id.
  ///
  /// - Parameters:
  ///   - borderAgentID: 8 or 16 bytes.
  ///   - activeOperationalDataSet: a complete active dataset, at most 254 bytes of TLVs (Thread
  ///     specification, chapter 8). Types that are not known are kept.
  ///   - completion: gets nil, or the error: ``THError/Code/invalidDataset``, which names the rule, the
  ///     TLV and its offset; ``THError/Code/notAuthorized`` when the id belongs to another team.
  @preconcurrency open func storeCredentials(
    forBorderAgent borderAgentID: Data, activeOperationalDataSet: Data,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    start(completion) {
      var request = try ThreadRequest.of(borderAgentID, .storeCredentials)
      request.dataset = try ThreadRequest.dataset(activeOperationalDataSet)
      _ = try await $0.ask(request)
    }
  }

  /// Deletes the credentials that the own team has stored for a border router. The preferred network
  /// stays what it is, also when this was its last border router.
  ///
  /// - Parameters:
  ///   - borderAgentID: 8 or 16 bytes.
  ///   - completion: gets nil, or the error: ``THError/Code/notFound`` when there are none, and then
  ///     nothing has changed.
  @preconcurrency open func deleteCredentials(
    forBorderAgent borderAgentID: Data, completion: @escaping @Sendable ((any Error)?) -> Void
  ) { start(completion) { _ = try await $0.ask(.of(borderAgentID, .deleteCredentials)) } }

  // MARK: With a person's consent

  /// The credentials of the preferred network. A person is asked first, who has two minutes for an
  /// answer.
  ///
  /// - Parameter completion: gets the credentials or the error: ``THError/Code/refused`` (15) when the
  ///   person refuses, or nobody answers; ``THError/Code/noPreferredNetwork`` without one.
  @preconcurrency open func retrievePreferredCredentials(
    _ completion: @escaping @Sendable (THCredentials?, (any Error)?) -> Void
  ) { start(completion) { try await $0.credential(ThreadRequest(.getPreferred)) } }

  /// The credentials of a network, whichever team has stored them. A person is asked first.
  ///
  /// - Parameters:
  ///   - extendedPANID: 8 bytes.
  ///   - completion: gets the credentials or the error: ``THError/Code/refused`` (15) when the person
  ///     refuses, or nobody answers; ``THError/Code/notFound`` when nobody has stored any.
  @preconcurrency open func retrieveCredentials(
    forExtendedPANID extendedPANID: Data, completion: @escaping @Sendable (THCredentials?, (any Error)?) -> Void
  ) { start(completion) { try await $0.credential(.about(extendedPANID, .getNetwork)) } }

  /// The credentials of all border routers that can be reached now, whichever team has stored them. A
  /// person is asked first.
  ///
  /// - Parameter completion: gets the credentials, which may be none, or the error:
  ///   ``THError/Code/refused`` (15) when the person refuses, or nobody answers.
  @preconcurrency open func retrieveActiveCredentialsForNearbyNetworks(
    completion: @escaping @Sendable (Set<THCredentials>?, (any Error)?) -> Void
  ) { start(completion) { try await $0.credentials(.nearbyNetworks) } }

  /// Lets another device have the credentials of a network by a code of nine digits, for two minutes. It is
  /// shown to the person at this program's terminal, where that is the daemon's own user or root, and never
  /// returned. An OpenThread Border Router on the network makes it, which the daemon asks.
  ///
  /// - Parameters:
  ///   - extendedPANID: 8 bytes.
  ///   - completion: gets nil once the code is shown, or the error: ``THError/Code/conflict`` while the router
  ///     has a code in use; ``THError/Code/unsupported`` without such a router, a terminal, or a daemon,
  ///     and for every other user.
  @preconcurrency open func enableCredentialSharingMode(
    forExtendedPANID extendedPANID: Data, completion: @escaping @Sendable ((any Error)?) -> Void
  ) { start(completion) { _ = try await $0.ask(.about(extendedPANID, .shareCredentials)) } }

  // MARK: About the preferred network

  /// Whether a dataset is one of the preferred network: all its essential parameters are equal, that
  /// is all but the timestamps, the channel mask and what is not known. Nobody is asked.
  ///
  /// - Parameters:
  ///   - activeOperationalDataSet: a complete active dataset.
  ///   - completion: gets false also without a preferred network, for what is no dataset, and when the
  ///     daemon can't be asked. ``preferredMatch(forActiveOperationalDataset:)`` tells these apart.
  @preconcurrency open func checkPreferredNetwork(
    forActiveOperationalDataset activeOperationalDataSet: Data, completion: @escaping @Sendable (Bool) -> Void
  ) { start(completion) { try await $0.match(activeOperationalDataSet) == .match } }

  /// Whether the home has a preferred network, and its credentials are there. Nobody is asked.
  ///
  /// - Parameter completion: gets false also when the daemon can't be asked.
  @preconcurrency open func isPreferredNetworkAvailable(completion: @escaping @Sendable (Bool) -> Void) {
    start(completion) { try await $0.isPreferredAvailable() }
  }
}

/// How a dataset compares with the preferred network of the home. Linux only.
public enum THPreferredMatch: Sendable, Hashable {
  /// All essential parameters are equal.
  case match
  /// It is another network, or has other parameters. The names are those of what differs, such as
  /// `network_key` and `ext_pan_id`; values are not told.
  case mismatch(differing: [String])
  /// The home has no preferred network; or the dataset names it, and its credentials are not there to compare with.
  case noPreferredNetwork
}

extension THClient {
  /// Compares a dataset with the preferred network. Nobody is asked. Linux only: it is what
  /// ``isPreferred(forActiveOperationalDataset:)`` is made of, and keeps apart what that calls false.
  ///
  /// - Parameter activeOperationalDataSet: a complete active dataset, at most 254 bytes.
  /// - Throws: ``THError``, with the code ``THError/Code/invalidDataset`` for what is none;
  ///   `CancellationError`.
  public func preferredMatch(forActiveOperationalDataset activeOperationalDataSet: Data) async throws
    -> THPreferredMatch
  { try await daemon.match(activeOperationalDataSet) }
}
