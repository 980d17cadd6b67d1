// SPDX-License-Identifier: Apache-2.0

/// Whether an "always" of before answers a question of now.
enum GrantCoverage {
  static func covers(_ grant: ConsentGrant, _ question: ConsentQuestion) -> Bool {
    grant.requester.isSame(as: question.requester)
      && grant.subject.home == question.subject.home
      && grant.subject.command == question.subject.command
      // Nothing is covered by a grant that names nothing.
      && !question.subject.networks.isEmpty
      && question.subject.networkIDs.isSubset(of: grant.subject.networkIDs)
  }
}
