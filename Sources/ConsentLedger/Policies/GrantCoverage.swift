// SPDX-License-Identifier: Apache-2.0

/// Whether an "always" answers a later question.
enum GrantCoverage {
  static func covers(_ grant: ConsentGrant, _ request: ConsentRequest) -> Bool {
    isFor(request, grant)
      // A grant of a version that did not note the network key covers nothing.
      && request.subject.networks.allSatisfy { $0.keyFingerprint != nil }
      && Set(request.subject.networks).isSubset(of: grant.subject.networks)
  }

  /// Whether the question would be covered, if the network keys were those that the grant was given for.
  static func isOutdated(_ grant: ConsentGrant, for request: ConsentRequest) -> Bool {
    isFor(request, grant) && !covers(grant, request)
      && Set(request.subject.withoutKeys.networks).isSubset(of: grant.subject.withoutKeys.networks)
  }

  private static func isFor(_ request: ConsentRequest, _ grant: ConsentGrant) -> Bool {
    grant.requester.isSame(as: request.requester)
      && grant.subject.home == request.subject.home
      && grant.subject.command == request.subject.command
      // Nothing is covered by a grant that names nothing.
      && !request.subject.networks.isEmpty
  }
}
