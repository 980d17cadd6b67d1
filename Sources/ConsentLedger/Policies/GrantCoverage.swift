// SPDX-License-Identifier: Apache-2.0

/// Whether an "always" of before answers a question of now.
enum GrantCoverage {
  static func covers(_ grant: ConsentGrant, _ request: ConsentRequest) -> Bool {
    grant.requester.isSame(as: request.requester)
      && grant.subject.home == request.subject.home
      && grant.subject.command == request.subject.command
      // Nothing is covered by a grant that names nothing.
      && !request.subject.networks.isEmpty
      && Set(request.subject.networks).isSubset(of: grant.subject.networks)
  }
}
