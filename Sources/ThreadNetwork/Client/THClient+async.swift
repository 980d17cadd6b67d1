import Foundation

/// Each goes through its form with a completion handler, so a subclass that overrides that has changed
/// both.
extension THClient {
  /// All credentials that the own team has stored.
  ///
  /// - Returns: none, where there are none.
  /// - Throws: ``THError``; `CancellationError`.
  public func allCredentials() async throws -> Set<THCredentials> {
    try await PendingCall.value { retrieveAllCredentials($0) }
  }

  /// The credentials that the own team has stored for border routers that can be reached now.
  ///
  /// - Returns: none, where there are none, and without a daemon.
  /// - Throws: ``THError``; `CancellationError`.
  public func allActiveCredentials() async throws -> Set<THCredentials> {
    try await PendingCall.value { retrieveAllActiveCredentials($0) }
  }

  /// The credentials of all border routers that can be reached now, whichever team has stored them. A
  /// person is asked first.
  ///
  /// Throws ``THError``, with the code ``THError/Code/refused`` (15) when the person refuses or nobody
  /// answers; `CancellationError`.
  public var activeCredentialsForNearbyNetworks: Set<THCredentials> {
    get async throws { try await PendingCall.value { retrieveActiveCredentialsForNearbyNetworks(completion: $0) } }
  }

  /// Deletes the credentials that the own team has stored for a border router.
  ///
  /// - Parameter borderAgentID: 8 or 16 bytes.
  /// - Throws: ``THError``, with the code ``THError/Code/notFound`` when there are none, and then
  ///   nothing has changed; `CancellationError`, and then it may be done all the same.
  public func deleteCredentials(forBorderAgent borderAgentID: Data) async throws {
    try await PendingCall.end { deleteCredentials(forBorderAgent: borderAgentID, completion: $0) }
  }

  /// The credentials that the own team has stored for a border router.
  ///
  /// - Parameter borderAgentID: 8 or 16 bytes.
  /// - Throws: ``THError``, with the code ``THError/Code/notFound`` when there are none, also when
  ///   another team has some; `CancellationError`.
  public func credentials(forBorderAgentID borderAgentID: Data) async throws -> THCredentials {
    try await PendingCall.value { retrieveCredentials(forBorderAgent: borderAgentID, completion: $0) }
  }

  /// Stores the credentials of a border router, or replaces those that the own team has stored. See
  /// ``storeCredentials(forBorderAgent:activeOperationalDataSet:completion:)``.
  ///
  /// - Parameters:
  ///   - borderAgentID: 8 or 16 bytes.
  ///   - activeOperationalDataSet: a complete active dataset, at most 254 bytes.
  /// - Throws: ``THError``, with the code ``THError/Code/invalidDataset`` or
  ///   ``THError/Code/notAuthorized`` among others; `CancellationError`, and then it may be done all
  ///   the same.
  public func storeCredentials(forBorderAgent borderAgentID: Data, activeOperationalDataSet: Data) async throws {
    try await PendingCall.end {
      storeCredentials(
        forBorderAgent: borderAgentID, activeOperationalDataSet: activeOperationalDataSet, completion: $0)
    }
  }

  /// The credentials of the preferred network. A person is asked first.
  ///
  /// - Throws: ``THError``, with the code ``THError/Code/refused`` (15) when the person refuses or
  ///   nobody answers, ``THError/Code/noPreferredNetwork`` without one; `CancellationError`.
  public func preferredCredentials() async throws -> THCredentials {
    try await PendingCall.value { retrievePreferredCredentials($0) }
  }

  /// The credentials of a network, whichever team has stored them. A person is asked first.
  ///
  /// - Parameter extendedPANID: 8 bytes.
  /// - Throws: ``THError``, with the code ``THError/Code/refused`` (15) when the person refuses or
  ///   nobody answers, ``THError/Code/notFound`` when nobody has stored any; `CancellationError`.
  public func credentials(forExtendedPANID extendedPANID: Data) async throws -> THCredentials {
    try await PendingCall.value { retrieveCredentials(forExtendedPANID: extendedPANID, completion: $0) }
  }

  /// Whether a dataset is one of the preferred network. Nobody is asked.
  ///
  /// - Parameter activeOperationalDataSet: a complete active dataset.
  /// - Returns: false also without a preferred network, for what is no dataset, when the daemon can't
  ///   be asked, and when the task is cancelled.
  public func isPreferred(forActiveOperationalDataset activeOperationalDataSet: Data) async -> Bool {
    await PendingCall.answer {
      checkPreferredNetwork(forActiveOperationalDataset: activeOperationalDataSet, completion: $0)
    }
  }

  /// Whether the home has a preferred network, and its credentials are there. Nobody is asked.
  ///
  /// - Returns: false also when the daemon can't be asked, and when the task is cancelled.
  public func isPreferredAvailable() async -> Bool {
    await PendingCall.answer { isPreferredNetworkAvailable(completion: $0) }
  }

  /// Lets another device have the credentials of a network by a code of nine digits, for two minutes, which is shown at
  /// this program's terminal. See ``enableCredentialSharingMode(forExtendedPANID:completion:)``.
  ///
  /// - Parameter extendedPANID: 8 bytes.
  /// - Throws: ``THError``: ``THError/Code/conflict`` while the router has a code in use; ``THError/Code/unsupported``
  ///   without such a router, a terminal, or a daemon, and for every other user.
  public func enableCredentialSharingMode(forExtendedPANID extendedPANID: Data) async throws {
    try await PendingCall.end { enableCredentialSharingMode(forExtendedPANID: extendedPANID, completion: $0) }
  }
}
